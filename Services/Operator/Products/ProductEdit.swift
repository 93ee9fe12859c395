import EventTypes
import Foundation
import OperatorCore

/// A product as the catalog returned it, to be sent back with another price.
///
/// Fields that this version does not know are preserved.
struct ProductEdit {
    private let members: [String: Any]
    private let prices: [String: Any]
    /// The version of the product that is changed.
    let version: Int

    init(_ product: Data) throws(OperatorError) {
        guard
            let members = try? JSONSerialization.jsonObject(with: product) as? [String: Any],
            let version = members["version"] as? Int
        else { throw OperatorError.strangeAnswer("a product") }
        self.members = members
        self.version = version
        prices = members["prices"] as? [String: Any] ?? [:]
    }

    /// The product's price in a storefront.
    func price(in storefront: Storefront) -> Money? {
        guard let price = prices[storefront.rawValue] as? [String: Any],
            let minorUnits = price["minorUnits"] as? Int,
            let currency = (price["currency"] as? String).flatMap(Currency.init(rawValue:))
        else { return nil }
        return Money(minorUnits: Int64(minorUnits), currency: currency)
    }

    /// The product with another price, as administrators send it.
    func draft(_ price: Money, in storefront: Storefront) throws -> Data {
        var prices = prices
        prices[storefront.rawValue] = [
            "minorUnits": price.minorUnits, "currency": price.currency.rawValue,
        ]
        var draft = members
        draft["prices"] = prices
        // The catalog sets the id and the version.
        draft["id"] = nil
        draft["version"] = nil
        return try JSONSerialization.data(withJSONObject: draft)
    }
}
