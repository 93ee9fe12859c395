extension Subscription {
    /// Returns the newest version of each subscription, ordered by id.
    ///
    /// - Parameter versions: Versions of any subscriptions, in any order.
    /// - Returns: One version of each subscription that occurs.
    public static func newest(of versions: some Sequence<Subscription>) -> [Subscription] {
        var newest: [TransactionID: Subscription] = [:]
        for subscription in versions
        where newest[subscription.id]?.version ?? 0 < subscription.version {
            newest[subscription.id] = subscription
        }
        return newest.values.sorted { $0.id < $1.id }
    }
}
