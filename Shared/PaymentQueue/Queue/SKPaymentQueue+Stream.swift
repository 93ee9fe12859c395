import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Follows the account's queue until the task is cancelled.
    ///
    /// It opens the stream, reads it, and reopens it when the connection ends.
    func follow(_ transport: StoreTransport) async {
        var failures = 0
        while !Task.isCancelled {
            let hadOpened = Once()
            do {
                let lastEventID = state.withLock { $0.pending.lastEventID }
                try await transport.readQueue(
                    after: lastEventID,
                    didConnect: self.connected,
                    didOpen: hadOpened.fire
                ) { events in
                    self.receive(events)
                }
            } catch {
                await report(error)
            }
            failures = hadOpened.hasFired ? 1 : failures + 1
            // If the task was cancelled, the condition of the loop ends it.
            try? await transport.pause(afterFailures: failures)
        }
    }

    private func report(_ error: any Error) async {
        guard !Task.isCancelled else { return }
        guard case StoreFailure.refused(let problem) = error else {
            return logger.debug("The queue's stream broke off", metadata: ["error": "\(error)"])
        }
        logger.warning(
            "The store refuses the queue's stream; until it accepts one, no transaction is reported",
            metadata: ["code": "\(problem.code)", "detail": "\(problem.detail)"]
        )
        guard problem.status == 400 else { return }
        // The store may have refused the event id. The next stream begins with everything
        // unfinished, but does not report which transactions have left the queue.
        change { $0.forgetPosition() }
        state.withLock { reconcile(&$0) }
    }

    /// Requests all unfinished transactions until there is an answer, and forgets those that are no
    /// longer unfinished.
    ///
    /// It runs for as long as the stream is followed.
    func reconcile(_ state: inout State) {
        guard state.session != nil else { return }
        state.reconciliation?.cancel()
        state.reconciliation = Task {
            do {
                try await self.sync(untilAnswered: true)
            } catch {
                self.logger.debug(
                    "Transactions that left the queue elsewhere are noticed at the next launch",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }

    private func connected(_ head: QueueStreamHead) {
        change { Task.isCancelled ? .init() : $0.connected(head) }
        tell { ($0 as? any QueueFollower)?.queueDidConnect() }
        lookForPriceIncreases()
    }

    private func receive(_ events: [ServerSentEventParser.Event]) {
        // Events of a cancelled stream are sent again by the next stream. The stream is cancelled
        // under the queue's lock, so this is the right place to check.
        change { Task.isCancelled ? .init() : $0.receive(events) }
    }
}
