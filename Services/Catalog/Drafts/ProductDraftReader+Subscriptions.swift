import EventTypes

/// Reads what only subscriptions have.
extension ProductDraftReader {
    /// Reads the terms of a subscription, which a type that renews automatically needs and which no
    /// other type has.
    mutating func subscription(
        _ json: JSONValue?,
        of type: ProductType?
    ) -> SubscriptionTerms? {
        guard let json, json != .null else {
            if type == .autoRenewableSubscription {
                note("subscription", "is missing; give groupID, level and period")
            }
            return nil
        }
        if let type, type != .autoRenewableSubscription {
            note("subscription", "must be left out: a \(type) does not renew automatically")
        }
        let names: Set = ["groupID", "level", "period"]
        guard let members = object(json, "subscription", of: names, required: names) else {
            return nil
        }
        let group = string(members["groupID"], "subscription.groupID")
        let groupID = group.flatMap { SubscriptionGroupID(rawValue: $0) }
        if let group, groupID == nil {
            note(
                "subscription.groupID",
                "is '\(ProductProblem.shortened(group))', not \(SubscriptionGroupID.form)"
            )
        }
        let level = integer(
            members["level"],
            "subscription.level",
            in: 1...ProductRules.levelMax
        )
        let name = string(members["period"], "subscription.period")
        let period = name.flatMap { SubscriptionPeriod(iso8601: $0) }
        let isSold = period.map(ProductRules.periods.contains) ?? false
        if let name, !isSold {
            let known = ProductRules.periods.map(\.description).joined(separator: ", ")
            note(
                "subscription.period",
                "is '\(ProductProblem.shortened(name))'; it must be one of \(known)"
            )
        }
        guard let groupID, let level, let period, isSold else { return nil }
        return SubscriptionTerms(groupID: groupID, level: Int(level), period: period)
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
        guard let json, json != .null else { return nil }
        let name = "promotionalOffers"
        guard case .array(let elements) = json else {
            note(name, "is \(json.kind), not an array")
            return nil
        }
        if let type, type != .autoRenewableSubscription, !elements.isEmpty {
            note(name, "must be left out: a \(type) does not renew automatically")
        }
        let countMax = OfferRules.promotionalCountMax
        if elements.count > countMax { note(name, "must hold at most \(countMax) offers") }
        var offers: [PromotionalOffer] = []
        for (index, element) in elements.prefix(countMax).enumerated() {
            let field = "\(name)[\(index)]"
            guard let offer = promotionalOffer(element, field, terms, meeting: ordinary) else {
                continue
            }
            if offers.contains(where: { $0.id == offer.id }) {
                note(field + ".id", "is given twice")
            }
            offers.append(offer)
        }
        if offers.count(where: \.isActive) > OfferRules.activeCountMax {
            note(name, "must hold at most \(OfferRules.activeCountMax) active offers")
        }
        return offers
    }

    private mutating func promotionalOffer(
        _ json: JSONValue,
        _ field: String,
        _ terms: SubscriptionTerms?,
        meeting ordinary: [Storefront: Money]
    ) -> PromotionalOffer? {
        let names = Self.offerNames.union(["id", "isActive"])
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
        return PromotionalOffer(id: id, isActive: isActive, terms: offer)
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
