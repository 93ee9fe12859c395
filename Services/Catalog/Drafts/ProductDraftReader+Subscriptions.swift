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
}
