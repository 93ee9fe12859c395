import EventTypes

/// Reads changes of prices that have a time.
extension ProductDraftReader {
    /// Reads a change for each storefront, which has a price already.
    mutating func priceChanges(
        _ json: JSONValue?,
        of type: ProductType?,
        meeting prices: [Storefront: Money]
    ) -> [Storefront: PriceChange]? {
        guard let json, json != .null else { return nil }
        let name = "priceChanges"
        guard let members = object(json, name) else { return nil }
        var changes: [Storefront: PriceChange] = [:]
        for (key, value) in members.sorted(by: { $0.key < $1.key }) {
            let field = name + "." + ProductProblem.shortened(key)
            guard let storefront = Storefront(rawValue: key) else {
                note(field, "is not \(Storefront.form)")
                continue
            }
            let change = self.change(value, field, of: type)
            guard let price = prices[storefront] else {
                note(field, "is a change of no price: give the storefront a price in prices")
                continue
            }
            guard let change else { continue }
            if change.price.currency != price.currency {
                note(
                    field + ".price.currency",
                    "is \(change.price.currency), and the present price is in \(price.currency)"
                )
            }
            changes[storefront] = change
        }
        return changes
    }

    private mutating func change(
        _ json: JSONValue,
        _ field: String,
        of type: ProductType?
    ) -> PriceChange? {
        let names: Set = ["price", "from", "existingSubscribers"]
        guard let members = object(json, field, of: names, required: ["price", "from"]) else {
            return nil
        }
        let price = members["price"].flatMap { self.price($0, field + ".price") }
        let time = integer(members["from"], field + ".from", in: Self.times)
        let existing = self.existingSubscribers(members["existingSubscribers"], field, of: type)
        guard let price, let time else { return nil }
        return PriceChange(
            price: price,
            from: StoreTime(millisecondsSinceEpoch: time),
            existingSubscribers: existing
        )
    }

    /// Checks that the offers still make sense once scheduled prices count.
    ///
    /// A problem that an offer has with the present price too is noted with the offer.
    mutating func check(
        _ changes: [Storefront: PriceChange],
        against offers: [OfferTerms],
        of terms: SubscriptionTerms?,
        meeting prices: [Storefront: Money]
    ) {
        guard let terms, !changes.isEmpty else { return }
        let later = prices.merging(changes.mapValues(\.price)) { $1 }
        for offer in offers {
            let known = OfferRules.problems(of: offer, for: terms, meeting: prices).map(\.field)
            for problem in OfferRules.problems(of: offer, for: terms, meeting: later)
            where !known.contains(problem.field) {
                // The field is that of a storefront's price.
                let storefront = problem.field.dropFirst("prices.".count)
                note(
                    "priceChanges.\(storefront).price",
                    "does not fit the \(offer.mode) offer, whose price \(problem.text)"
                )
            }
        }
    }

    /// The times that a draft may name: the years 2000 to 2999.
    static let times: ClosedRange<Int64> = 946_684_800_000...32_503_679_999_999

    private mutating func existingSubscribers(
        _ json: JSONValue?,
        _ field: String,
        of type: ProductType?
    ) -> ExistingSubscribers {
        let field = field + ".existingSubscribers"
        guard json != .null, let name = string(json, field) else { return .preserve }
        let existing = ExistingSubscribers(rawValue: name)
        switch existing {
        case .preserve: break
        case .raise:
            if let type, type != .autoRenewableSubscription {
                note(field, "must not be raise: a \(type) has no subscribers")
            }
        case .unknown:
            note(field, "is '\(ProductProblem.shortened(name))'; it must be preserve or raise")
        }
        return existing
    }
}
