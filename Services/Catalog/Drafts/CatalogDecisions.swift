import EventTypes

/// The decisions on the edits of one call, in the order of the edits.
struct CatalogDecisions: Sendable {
    var products: [ProductRules.Decision]
    var groups: [GroupRules.Decision]

    /// Whether an edit is refused, so that none is made.
    var isRefused: Bool {
        products.contains { if case .refused = $0 { true } else { false } }
            || groups.contains { if case .unknown = $0 { true } else { false } }
    }

    /// The products to write: all new versions, or none if an edit is refused.
    var writtenProducts: [Product] { isRefused ? [] : products.compactMap(\.written) }

    /// The groups to write: all new versions, or none if an edit is refused.
    var writtenGroups: [SubscriptionGroup] { isRefused ? [] : groups.compactMap(\.written) }
}
