import EventTypes

/// The decisions on a batch of requests to finish.
///
/// Pure. ``FinishHandler`` hands in the locked transactions, and writes what is decided.
struct FinishPlan: Sendable {
    /// A transaction that a request finishes.
    struct Finish: Sendable {
        let transactionID: TransactionID
        /// The number of this change among those that the batch makes to its queue, from 1.
        let ordinal: Int64
        /// The request, by its index in the batch.
        let request: Int
    }

    /// The outcomes, in the order of the requests.
    private(set) var outcomes: [FinishOutcome] = []
    /// The transactions that leave their queues.
    private(set) var finishes: [Finish] = []
    /// The number of changes of each queue.
    private(set) var counts: [QueueKey: Int64] = [:]

    /// Decides a batch.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - known: The transactions that they name, as far as they exist.
    ///   - time: The time of the finishes.
    init(
        _ requests: [FinishRequest],
        of known: [TransactionID: QueuedTransaction],
        at time: StoreTime
    ) {
        var known = known
        for (index, request) in requests.enumerated() {
            switch QueueRules.finish(known[request.transactionID], from: request.queue) {
            case .refused(let refusal): outcomes.append(.refused(refusal))
            case .alreadyFinished(let time): outcomes.append(.finished(at: time))
            case .finish:
                // A second request in the same batch finds the transaction finished.
                known[request.transactionID]?.finishedAt = time
                let ordinal = counts[request.queue, default: 0] + 1
                counts[request.queue] = ordinal
                finishes.append(
                    Finish(
                        transactionID: request.transactionID,
                        ordinal: ordinal,
                        request: index
                    )
                )
                outcomes.append(.finished(at: time))
            }
        }
    }
}
