import EventTypes

/// Reads the offers of subscriptions.
extension ProductDraftReader {
    /// All offers of a product, as they were read.
    struct Offers {
        var introductory: OfferTerms?
        var promotional: [PromotionalOffer]?
        var codes: [CodeOffer]?
        var winBacks: [WinBackOffer]?

        /// The terms of all of them.
        var terms: [OfferTerms] {
            [introductory].compactMap(\.self) + (promotional ?? []).map(\.terms)
                + (codes ?? []).map(\.terms) + (winBacks ?? []).map(\.terms)
        }
    }

    /// Reads all offers of a subscription, which no other type has.
    mutating func offers(
        _ members: [String: JSONValue],
        of type: ProductType?,
        _ terms: SubscriptionTerms?,
        meeting prices: [Storefront: Money]
    ) -> Offers {
        Offers(
            introductory: introductoryOffer(
                members["introductoryOffer"],
                of: type,
                terms,
                meeting: prices
            ),
            promotional: promotionalOffers(
                members["promotionalOffers"],
                of: type,
                terms,
                meeting: prices
            ),
            codes: codeOffers(members["codeOffers"], of: type, terms, meeting: prices),
            winBacks: winBackOffers(members["winBackOffers"], of: type, terms, meeting: prices)
        )
    }

    /// Reads the introductory offer of a subscription, which no other type has.
    mutating func introductoryOffer(
        _ json: JSONValue?,
        of type: ProductType?,
        _ terms: SubscriptionTerms?,
        meeting ordinary: [Storefront: Money]
    ) -> OfferTerms? {
        guard let json, json != .null else { return nil }
        let name = "introductoryOffer"
        if let type, type != .autoRenewableSubscription {
            note(name, "must be left out: a \(type) does not renew automatically")
        }
        guard
            let members = object(json, name, of: Self.offerNames, required: Self.offerNamesRequired)
        else { return nil }
        return offerTerms(members, name, terms, meeting: ordinary)
    }

    /// Reads the promotional offers of a subscription, which no other type has.
    mutating func promotionalOffers(
        _ json: JSONValue?,
        of type: ProductType?,
        _ terms: SubscriptionTerms?,
        meeting ordinary: [Storefront: Money]
    ) -> [PromotionalOffer]? {
        guard let read = namedOffers(json, "promotionalOffers", of: type, terms, ordinary) else {
            return nil
        }
        let offers = read.map {
            PromotionalOffer(id: $0.id, isActive: $0.isActive, terms: $0.terms)
        }
        checkActive(offers.count(where: \.isActive), in: "promotionalOffers")
        return offers
    }

    /// Reads the code offers of a subscription, which no other type has.
    mutating func codeOffers(
        _ json: JSONValue?,
        of type: ProductType?,
        _ terms: SubscriptionTerms?,
        meeting ordinary: [Storefront: Money]
    ) -> [CodeOffer]? {
        let more: Set = ["customers", "isStackable"]
        guard let read = namedOffers(json, "codeOffers", of: type, terms, ordinary, with: more)
        else { return nil }
        let offers = read.map { offer in
            CodeOffer(
                id: offer.id,
                isActive: offer.isActive,
                customers: customers(offer.members["customers"], offer.field + ".customers"),
                isStackable: bool(offer.members["isStackable"], offer.field + ".isStackable")
                    ?? false,
                terms: offer.terms
            )
        }
        checkActive(offers.count(where: \.isActive), in: "codeOffers")
        return offers
    }

    /// Reads the kinds of customers who may redeem a code; all of them by default.
    private mutating func customers(_ json: JSONValue?, _ field: String) -> [CustomerKind] {
        guard let json, json != .null else { return CustomerKind.all }
        guard case .array(let elements) = json else {
            note(field, "is \(json.kind), not an array")
            return []
        }
        let known = CustomerKind.all.map(\.rawValue).joined(separator: ", ")
        var kinds: Set<CustomerKind> = []
        for (index, element) in elements.prefix(CustomerKind.all.count + 1).enumerated() {
            let place = "\(field)[\(index)]"
            guard let name = string(element, place) else { continue }
            let kind = CustomerKind(rawValue: name)
            if !CustomerKind.all.contains(kind) {
                note(place, "is '\(ProductProblem.shortened(name))'; it must be one of \(known)")
            } else if !kinds.insert(kind).inserted {
                note(place, "is given twice")
            }
        }
        if elements.isEmpty { note(field, "must name at least one of \(known)") }
        return CustomerKind.all.filter(kinds.contains)
    }

    /// An offer that has a name, as it was read.
    struct NamedOffer {
        let id: OfferID
        let isActive: Bool
        let terms: OfferTerms
        /// The field of the offer, and its members.
        let field: String
        let members: [String: JSONValue]
    }

    /// Reads offers of one kind.
    mutating func namedOffers(
        _ json: JSONValue?,
        _ name: String,
        of type: ProductType?,
        _ terms: SubscriptionTerms?,
        _ ordinary: [Storefront: Money],
        with more: Set<String> = []
    ) -> [NamedOffer]? {
        guard let json, json != .null else { return nil }
        guard case .array(let elements) = json else {
            note(name, "is \(json.kind), not an array")
            return nil
        }
        if let type, type != .autoRenewableSubscription, !elements.isEmpty {
            note(name, "must be left out: a \(type) does not renew automatically")
        }
        let countMax = OfferRules.countMax
        if elements.count > countMax { note(name, "must hold at most \(countMax) offers") }
        var offers: [NamedOffer] = []
        for (index, element) in elements.prefix(countMax).enumerated() {
            let field = "\(name)[\(index)]"
            guard let offer = namedOffer(element, field, terms, ordinary, with: more) else {
                continue
            }
            if offers.contains(where: { $0.id == offer.id }) {
                note(field + ".id", "is given twice")
            }
            offers.append(offer)
        }
        return offers
    }

    private mutating func namedOffer(
        _ json: JSONValue,
        _ field: String,
        _ terms: SubscriptionTerms?,
        _ ordinary: [Storefront: Money],
        with more: Set<String>
    ) -> NamedOffer? {
        let names = Self.offerNames.union(["id", "isActive"]).union(more)
        let required = Self.offerNamesRequired.union(["id"])
        guard let members = object(json, field, of: names, required: required) else { return nil }
        let text = string(members["id"], field + ".id")
        let id = text.flatMap { OfferID(rawValue: $0) }
        if let text, id == nil {
            note(field + ".id", "is '\(ProductProblem.shortened(text))', not \(OfferID.form)")
        }
        let isActive = bool(members["isActive"], field + ".isActive") ?? true
        guard let offer = offerTerms(members, field, terms, meeting: ordinary), let id else {
            return nil
        }
        return NamedOffer(id: id, isActive: isActive, terms: offer, field: field, members: members)
    }

    mutating func checkActive(
        _ count: Int,
        in name: String,
        max: Int = OfferRules.activeCountMax
    ) {
        guard count > max else { return }
        note(name, "must hold at most \(max) active offers")
    }

    private static let offerNames: Set = ["mode", "period", "numberOfPeriods", "prices"]
    private static let offerNamesRequired: Set = ["mode", "period", "prices"]

    /// Reads the members that every offer has.
    private mutating func offerTerms(
        _ members: [String: JSONValue],
        _ name: String,
        _ terms: SubscriptionTerms?,
        meeting ordinary: [Storefront: Money]
    ) -> OfferTerms? {
        let mode = offerMode(members["mode"], name + ".mode")
        let text = string(members["period"], name + ".period")
        let period = text.flatMap { SubscriptionPeriod(iso8601: $0) }
        if let text, period == nil {
            let shown = ProductProblem.shortened(text)
            note(name + ".period", "is '\(shown)', not a number and a unit such as P1W")
        }
        let count = integer(members["numberOfPeriods"], name + ".numberOfPeriods", in: 1...12)
        let prices = prices(members["prices"], name + ".prices")
        guard let mode, let period, let terms else { return nil }
        let offer = OfferTerms(
            mode: mode,
            period: period,
            numberOfPeriods: count.map { Int($0) } ?? 1,
            prices: prices
        )
        for problem in OfferRules.problems(of: offer, for: terms, meeting: ordinary) {
            note("\(name).\(problem.field)", problem.text)
        }
        return offer
    }

    private mutating func offerMode(_ json: JSONValue?, _ field: String) -> OfferMode? {
        guard let name = string(json, field) else { return nil }
        let mode = OfferMode(rawValue: name)
        guard OfferRules.modes.contains(mode) else {
            let known = OfferRules.modes.map(\.rawValue).joined(separator: ", ")
            note(field, "is '\(ProductProblem.shortened(name))'; it must be one of \(known)")
            return nil
        }
        return mode
    }
}
