import EventTypes

/// Puts the events of one subscription together that come in different pages.
struct SubscriptionEventPages {
    private var waiting: [(id: Int64, events: [SubscriptionChanged])] = []
    /// Whether there are no more pages.
    private(set) var isAtEnd = false

    /// Adds a page of events, ordered by subscription.
    mutating func add(_ page: [(id: Int64, event: SubscriptionChanged?)], isLast: Bool) {
        isAtEnd = isLast
        for (id, event) in page {
            if waiting.last?.id != id { waiting.append((id, [])) }
            if let event { waiting[waiting.endIndex - 1].events.append(event) }
        }
    }

    /// Removes and returns the subscriptions whose events are all there.
    mutating func takeWhole() -> [(id: Int64, events: [SubscriptionChanged])] {
        let whole = isAtEnd ? waiting : Array(waiting.dropLast())
        waiting.removeFirst(whole.count)
        return whole
    }
}
