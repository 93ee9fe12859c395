import EventTypes

/// The client's knowledge of higher prices that the subscriber has to agree to (spec rules 106 and
/// 107).
///
/// It does no I/O.
struct PriceQuestions {
    /// A question about the price of one subscription.
    struct Question: Hashable {
        let subscriptionID: TransactionID
        let increase: PriceIncrease
    }

    /// The newest known version of each subscription.
    private var subscriptions: [TransactionID: Subscription] = [:]
    /// The pending questions that the delegate has been asked about.
    private var asked: Set<Question> = []
    /// The questions whose sheet is open.
    private var shown: Set<Question> = []

    /// The questions that the subscriber has not answered, the oldest subscription first.
    var pending: [Question] {
        subscriptions.values.sorted { $0.id < $1.id }.compactMap { subscription in
            guard subscription.state == .active, let increase = subscription.priceIncrease,
                increase.status == .pending
            else { return nil }
            return Question(subscriptionID: subscription.id, increase: increase)
        }
    }

    /// Applies what the store says of subscriptions.
    ///
    /// - Returns: Whether there is a question that the delegate has not been asked about yet.
    mutating func take(_ told: [Subscription]) -> Bool {
        for subscription in told
        where subscription.version > subscriptions[subscription.id]?.version ?? 0 {
            subscriptions[subscription.id] = subscription
        }
        let now = Set(pending)
        defer { asked = now }
        return !now.isSubset(of: asked)
    }

    /// Returns the questions to show now: those that are unanswered and not being shown already.
    mutating func show() -> [Question] {
        let questions = pending.filter { !shown.contains($0) }
        shown.formUnion(questions)
        return questions
    }

    /// Records that the sheet of a question was closed.
    mutating func close(_ question: Question) { shown.remove(question) }
}
