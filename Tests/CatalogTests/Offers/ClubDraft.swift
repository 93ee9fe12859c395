import StoreAPI

@testable import Catalog

/// A monthly subscription for 4.99 USD with offers, as an administrator sends it.
enum ClubDraft {
    /// Reads the subscription.
    ///
    /// - Parameters:
    ///   - offers: The offers, a JSON array.
    ///   - member: The member that has them.
    ///   - type: The type of the product, which may also be one that has no offers.
    /// - Returns: The draft, and its problems without the name of the member.
    /// - Throws: An error if the offers are no JSON.
    static func read(
        _ offers: String,
        as member: String,
        type: String = "autoRenewableSubscription"
    ) throws -> (draft: ProductDraft?, problems: [String]) {
        let terms = #"{"groupID": "club", "level": 1, "period": "P1M"}"#
        let json = Builder.json(replacing: [
            "type": #""\#(type)""#,
            "subscription": type == "autoRenewableSubscription" ? terms : "null",
            member: offers,
        ])
        let read = ProductDraftReader.read(try Builder.value(json), id: "club")
        return (
            read.product?.draft,
            read.problems.map { $0.description.replacing("club: \(member)", with: "") }
        )
    }

    /// An offer of three months, with more members; each costs 0.99 USD by default.
    static func offer(_ id: String, _ more: String = "", cents: Int = 99) -> String {
        #"""
        {"id": "\#(id)", "mode": "payAsYouGo", "period": "P1M", "numberOfPeriods": 3, \#(more)
         "prices": {"USA": {"minorUnits": \#(cents), "currency": "USD"}}}
        """#
    }
}
