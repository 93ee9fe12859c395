extension Subscription {
    /// Returns the newest version of each subscription, ordered by id.
    ///
    /// - Parameter versions: Versions of any subscriptions, in any order.
    /// - Returns: One version of each subscription that occurs.
    public static func newest(of versions: some Sequence<Subscription>) -> [Subscription] {
        let versions = Array(versions)
        // Places are collected and sorted, because subscriptions are large.
        var newest: [TransactionID: Int] = [:]
        for (place, subscription) in versions.enumerated() {
            let known = newest[subscription.id].map { versions[$0].version } ?? 0
            if known < subscription.version { newest[subscription.id] = place }
        }
        return newest.sorted { $0.key < $1.key }.map { versions[$0.value] }
    }
}
