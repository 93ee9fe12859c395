package import EventTypes
package import Foundation

/// A product as the catalog returned it, to be sent back with changes.
///
/// Fields that this version does not know are preserved.
package struct ProductEdit {
    private let members: [String: Any]
    /// The product.
    package let product: Product

    /// The version of the product that is changed.
    package var version: Int { product.version }

    /// Reads the answer of the catalog.
    package init(_ answer: Data) throws(OperatorError) {
        guard
            let members = try? JSONSerialization.jsonObject(with: answer) as? [String: Any],
            let product = try? JSONDecoder().decode(Product.self, from: answer)
        else { throw OperatorError.strangeAnswer("a product") }
        self.members = members
        self.product = product
    }

    /// The product's price in a storefront.
    package func price(in storefront: Storefront) -> Money? { product.prices[storefront] }

    /// The product with another price, as administrators send it.
    ///
    /// - Parameters:
    ///   - price: The price.
    ///   - storefront: The storefront.
    ///   - time: The time from which on the price counts; `nil` for now.
    ///   - existing: What it means for those who have subscribed already.
    ///   - reason: The administrator's reason; `nil` if there is none to record.
    /// - Returns: The JSON of the draft.
    /// - Throws: An error of the JSON coder.
    package func draft(
        _ price: Money,
        in storefront: Storefront,
        from time: StoreTime? = nil,
        for existing: ExistingSubscribers = .preserve,
        because reason: ActReason? = nil
    ) throws -> Data {
        var wish = ProductWish(product)
        if let time {
            wish.priceChanges[storefront] = PriceChange(
                price: price,
                from: time,
                existingSubscribers: existing
            )
        } else {
            wish.prices[storefront] = price
            wish.priceChanges[storefront] = nil
        }
        return try draft(wish, because: reason)
    }

    /// The product as it is wished, as administrators send it.
    ///
    /// A change of a price that has a time ends with a new price in its storefront.
    package func draft(_ wish: ProductWish, because reason: ActReason? = nil) throws -> Data {
        var draft = members
        let old = members["prices"] as? [String: Any] ?? [:]
        draft["isOnSale"] = wish.isOnSale
        draft["prices"] = Dictionary(
            uniqueKeysWithValues: wish.prices.map { storefront, price in
                var value = old[storefront.rawValue] as? [String: Any] ?? [:]
                value["minorUnits"] = price.minorUnits
                value["currency"] = price.currency.rawValue
                return (storefront.rawValue, value)
            }
        )
        draft["priceChanges"] = try changes(wish)
        if let plan = members["deliveryPlan"] as? [[String: Any]] {
            draft["deliveryPlan"] = plan.map { target in
                guard target["kind"] as? String == "credit", let unit = target["unit"] as? String,
                    let amount = wish.credits[unit]
                else { return target }
                return target.merging(["amount": amount]) { $1 }
            }
        }
        var texts = members["localizations"] as? [String: Any] ?? [:]
        for (language, text) in wish.texts {
            var members = texts[language.rawValue] as? [String: Any] ?? [:]
            members["title"] = text.title
            members["description"] = text.description
            texts[language.rawValue] = members
        }
        draft["localizations"] = texts
        draft["reason"] = reason?.rawValue
        return try Self.sent(draft)
    }

    /// The product with changed members, as administrators send it.
    func draft(_ change: (inout [String: Any]) throws -> Void) throws -> Data {
        var draft = members
        try change(&draft)
        return try Self.sent(draft)
    }

    private static func sent(_ draft: [String: Any]) throws -> Data {
        var draft = draft
        // The catalog sets the id and the version.
        draft["id"] = nil
        draft["version"] = nil
        return try JSONSerialization.data(withJSONObject: draft)
    }

    /// The JSON of the changes of prices; `nil` if there are none.
    private func changes(_ wish: ProductWish) throws -> [String: Any]? {
        let old = members["priceChanges"] as? [String: Any] ?? [:]
        var changes: [String: Any] = [:]
        for (storefront, change) in wish.settled(against: product).priceChanges {
            let isKept = change == product.priceChanges[storefront]
            let encoded: Any = try Self.encoded(change)
            changes[storefront.rawValue] = isKept ? old[storefront.rawValue] ?? encoded : encoded
        }
        return changes.isEmpty ? nil : changes
    }
}
