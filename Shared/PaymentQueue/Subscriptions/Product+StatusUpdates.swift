import Logging
import ReceiptValidation

extension Product.SubscriptionInfo.Status {
    /// The statuses of the account's subscriptions, followed by every new status for as long as the
    /// iteration lasts.
    ///
    /// The queue's stream says when a subscription has changed: when a period is paid or refunded, and
    /// when the subscription is cancelled on another device, lapses, or enters or leaves a grace period.
    /// The store is asked for the status then. It is also asked after ``cancel()``, ``resume()`` and
    /// ``change(to:)``, when the stream connects, and at
    /// ``SKPaymentQueue/applicationDidBecomeActive()``. The store is never polled.
    public static var updates: Updates { Updates(queue: .default()) }

    /// A sequence of statuses as they change.
    public struct Updates: AsyncSequence, Sendable {
        /// A status.
        public typealias Element = Product.SubscriptionInfo.Status
        /// The iteration never throws.
        public typealias Failure = Never

        let queue: SKPaymentQueue

        /// Begins to observe the queue.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(following: Following(queue))
        }

        /// An iterator that observes the queue until it is released.
        ///
        /// A status that changes several times before it is taken is returned once, as it is then.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let following: Following
            private var told: [UInt64: Product.SubscriptionInfo.Status] = [:]
            private var waiting: [Product.SubscriptionInfo.Status] = []

            /// The number of requests for a change that is not signed yet.
            private static let triesMax = 10

            fileprivate init(following: Following) { self.following = following }

            /// The next status; `nil` if the task is cancelled or the program is configured for
            /// another store or account.
            public mutating func next() async -> Product.SubscriptionInfo.Status? {
                while waiting.isEmpty {
                    guard let expectation = await following.observer.next() else { return nil }
                    await look(until: expectation)
                    if Task.isCancelled { return nil }
                }
                return waiting.removeFirst()
            }

            /// Asks for the statuses until they say what is expected.
            private mutating func look(until expectation: StatusObserver.Expectation) async {
                let queue = following.queue
                for tries in 1...Self.triesMax {
                    do {
                        let statuses = try await queue.subscriptionStatuses(untilAnswered: true)
                        take(statuses)
                        let known = statuses.map {
                            ($0.subscriptionID, (version: $0.version, transaction: $0.periodID))
                        }
                        let newest = Dictionary(known) { $1 }
                        if expectation.isMet(by: newest, hasNews: !waiting.isEmpty) { return }
                        try await queue.transport?.pause(afterFailures: tries)
                    } catch {
                        if !Task.isCancelled {
                            queue.logger.warning(
                                "The statuses of subscriptions were not read; the next change asks again",
                                metadata: ["error": "\(error)"]
                            )
                        }
                        return
                    }
                }
            }

            private mutating func take(_ statuses: [Product.SubscriptionInfo.Status]) {
                for status in statuses {
                    let id = status.subscriptionID
                    let known = told[id]
                    guard known?.version != status.version || known?.state != status.state else {
                        continue
                    }
                    told[id] = status
                    waiting.append(status)
                }
            }
        }
    }

    /// The number of the first transaction of the subscription.
    private var subscriptionID: UInt64 { renewalInfo.unsafePayloadValue.originalTransactionID }

    /// The number of the transaction of the newest period.
    private var periodID: UInt64 { transaction.unsafePayloadValue.id }
}

/// An observer's place in a queue, which ends when it is released.
private final class Following: Sendable {
    let queue: SKPaymentQueue
    let observer = StatusObserver()

    init(_ queue: SKPaymentQueue) {
        self.queue = queue
        queue.add(observer)
    }

    deinit { queue.remove(observer) }
}
