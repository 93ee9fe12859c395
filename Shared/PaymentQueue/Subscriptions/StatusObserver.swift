import EventTypes
import Synchronization

/// The observer of a ``Product/SubscriptionInfo/Status/Updates`` iterator.
///
/// It notes what may have changed until that is taken. Several changes become one.
final class StatusObserver: QueueFollower, Sendable {
    /// The least that the statuses say after a change, so that an older answer is not taken for it.
    struct Expectation: Hashable, Sendable {
        /// The number of a transaction that a status is at least as new as.
        var transaction: UInt64 = 0
        /// The versions that the statuses of subscriptions have at least, by their first transactions.
        var versions: [UInt64: Int] = [:]
        /// Whether a period was refunded, or its refund was reversed.
        var hasRefund = false

        /// Whether statuses say it.
        ///
        /// - Parameters:
        ///   - statuses: The versions and the numbers of the newest transactions, by the subscriptions'
        ///     first transactions. A group may have two: the account's own, and one that is shared.
        ///   - hasNews: Whether anything has changed since the last look.
        /// - Returns: Whether there is no need to ask again.
        func isMet(
            by statuses: [UInt64: (version: Int, transaction: UInt64)],
            hasNews: Bool
        ) -> Bool {
            (transaction == 0 || statuses.values.contains { $0.transaction >= transaction })
                && versions.allSatisfy { statuses[$0]?.version ?? 0 >= $1 }
                && (!hasRefund || hasNews)
        }
    }

    private struct State: ~Copyable {
        /// The changes since the last look; `nil` if there were none.
        var expectation: Expectation? = Expectation()
        var isOver = false
        var waiting: CheckedContinuation<Expectation?, Never>?
    }

    private let state = Mutex(State())

    func paymentQueue(
        _ queue: SKPaymentQueue,
        updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        let paid = transactions.filter { $0.isOfSubscription && $0.transactionState == .purchased }
        let numbers = paid.compactMap(\.number).compactMap { UInt64($0.rawValue) }
        guard let newest = numbers.max() else { return }
        note { $0.transaction = max($0.transaction, newest) }
    }

    func receive(refunded transactions: [SKPaymentTransaction]) {
        guard transactions.contains(where: \.isOfSubscription) else { return }
        note { $0.hasRefund = true }
    }

    func queueDidConnect() { note { _ in } }

    /// Notes that a subscription has changed.
    ///
    /// - Parameters:
    ///   - version: Its version.
    ///   - id: Its first transaction.
    func receive(version: Int, of id: UInt64) {
        note { $0.versions[id] = max($0.versions[id] ?? 0, version) }
    }

    private func note(_ change: (inout Expectation) -> Void) {
        let (waiting, noted) = state.withLock { state in
            var expectation = state.expectation ?? Expectation()
            change(&expectation)
            let waiting = state.waiting
            state.waiting = nil
            state.expectation = waiting == nil ? expectation : nil
            return (waiting, expectation)
        }
        waiting?.resume(returning: noted)
    }

    /// Waits for a change.
    ///
    /// - Returns: The least to expect, at first without waiting; `nil` if the task is cancelled or the
    ///   queue has ended.
    func next() async -> Expectation? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, expectation) = state.withLock { state in
                    if Task.isCancelled || state.isOver { return (true, Expectation?.none) }
                    if let expectation = state.expectation {
                        state.expectation = nil
                        return (true, expectation)
                    }
                    state.waiting = continuation
                    return (false, nil)
                }
                if isOver { continuation.resume(returning: expectation) }
            }
        } onCancel: {
            endWaiting()
        }
    }

    func queueDidClose() {
        state.withLock { $0.isOver = true }
        endWaiting()
    }

    private func endWaiting() {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: nil)
    }
}

extension SKPaymentTransaction {
    fileprivate var isOfSubscription: Bool { payment.product.kind == .autoRenewable }
}
