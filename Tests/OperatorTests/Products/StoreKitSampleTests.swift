import EventTypes
import Foundation
import StoreAPI
import TestSupport
import Testing

@testable import Operator

/// Files as Xcode writes them, from the first brace to the last.
///
/// Their contents are this project's own. Their members, and what is empty, null or missing in them,
/// are those of files in public repositories, which were compared on 2026-11-26: of version 2 in
/// russell-archer/StoreHelper and superwall/Superwall-iOS, and of version 4 in RevenueCat/purchases-ios.
@Suite struct StoreKitSampleTests {
    private func read(_ name: String) throws -> StoreKitReader.Content {
        let path = SourceTree.path("Tests/Fixtures/storekit/\(name).storekit")
        return try StoreKitReader.read(try Data(contentsOf: URL(filePath: path)))
    }

    @Test func aFileOfVersion2IsRead() throws {
        let content = try read("version-2")
        #expect(content.isUsable && content.products.count == 3 && content.groups.isEmpty)
        let gold = "product com.example.game.club.gold"
        let yearly = "product com.example.game.club.yearly"
        #expect(
            content.notes.map(\.description) == [
                "not taken: subscriptionOffersKeyPair is not a known member",
                "taken: product com.example.game.coins as consumable for 24.00 USD in USA",
                "not taken: group C0FFEE21 has the name 'Club', which the catalog does not keep",
                "taken: \(gold) with an introductory offer: payAsYouGo, 3 times P1M, 1.99 USD",
                "taken: \(gold) with the promotional offer 777: payUpFront, 1 times P3M, 3.99 USD",
                "taken: \(gold) as autoRenewableSubscription for 5.99 USD in USA, P1M, "
                    + "level 1 of C0FFEE21",
                "taken: \(yearly) with an introductory offer: freeTrial, 1 times P1W, 0.00 USD",
                "taken: \(yearly) as autoRenewableSubscription for 29.99 USD in USA, P1Y, "
                    + "level 2 of C0FFEE21",
                "not taken: setting _timeRate is 1s=1d21m; "
                    + "'counterfoil test set ACCOUNT --storekit FILE' follows it",
            ]
        )
        let club = content.products[ProductID(unchecked: "com.example.game.club.yearly")]
        #expect(club?.isFamilyShareable == true)
    }

    @Test func aFileOfVersion4IsRead() throws {
        let content = try read("version-4")
        #expect(content.isUsable && content.products.count == 2 && content.groups.isEmpty)
        #expect(
            content.notes.map(\.description) == [
                "not taken: appPolicies is not a known member",
                "not taken: group C0FFEE41 has the name 'group.one', which the catalog does not keep",
                "taken: product com.example.week with the promotional offer com.example.week.promo: "
                    + "freeTrial, 1 times P3D, 0.00 USD",
                "taken: product com.example.week as autoRenewableSubscription for 0.99 USD in USA, "
                    + "P1W, level 1 of C0FFEE41",
                "not taken: group C0FFEE42 has the name 'group.two', which the catalog does not keep",
                "taken: product com.example.month as autoRenewableSubscription for 1.99 USD in USA, "
                    + "P1M, level 1 of C0FFEE42",
            ]
        )
    }
}
