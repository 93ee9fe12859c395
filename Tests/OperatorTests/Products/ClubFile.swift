import EventTypes
import Foundation

@testable import Operator

/// A StoreKit file of Xcode's with one subscription, the club, which has offers of one kind.
enum ClubFile {
    static let usa = Storefront(unchecked: "USA")
    static let club = ProductID(unchecked: "app.club")

    /// Reads the file.
    ///
    /// - Parameters:
    ///   - offers: The offers, a JSON array.
    ///   - member: The member of the subscription that has them.
    /// - Returns: The content of the file.
    /// - Throws: An error if the file as a whole cannot be read.
    static func read(_ offers: String, as member: String) throws -> StoreKitReader.Content {
        let file = """
            {"version": {"major": 4, "minor": 0}, "products": [], "settings": {},
             "subscriptionGroups": [{"id": "club", "subscriptions": [{"productID": "app.club",
              "groupNumber": 1, "displayPrice": "2.99", "recurringSubscriptionPeriod": "P1M",
              "\(member)": \(offers),
              "localizations": [{"locale": "en", "displayName": "Club"}]}]}]}
            """
        return try StoreKitReader.read(Data(file.utf8), storefront: usa)
    }
}
