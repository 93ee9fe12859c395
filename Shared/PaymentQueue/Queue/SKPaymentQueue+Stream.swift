import Logging
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Follows the account's queue until the task is cancelled: opens the stream, reads it, and
    /// opens it again where it broke off.
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
            // Cancelled: the loop's condition ends it.
            try? await transport.pause(afterFailures: failures)
        }
    }

    private func report(_ error: any Error) async {
        guard !Task.isCancelled else { return }
        guard case StoreFailure.refused(let problem) = error else {
            return logger.debug("The queue's stream broke off", metadata: ["error": "\(error)"])
        }
        logger.warning(
            "The store refuses the queue's stream; no transaction is told of until it does not",
            metadata: ["code": "\(problem.code)", "detail": "\(problem.detail)"]
        )
        guard problem.status == 400 else { return }
        // Where to resume may be what it refuses. The next stream begins with what is unfinished,
        // and does not say what has left.
        change { $0.forgetPosition() }
        state.withLock { reconcile(&$0) }
    }

    /// Asks for everything that is unfinished until there is an answer, and lets go of what is not;
    /// for as long as the stream is followed.
    func reconcile(_ state: inout State) {
        guard state.session != nil else { return }
        state.reconciliation?.cancel()
        state.reconciliation = Task {
            do {
                try await self.sync(untilAnswered: true)
            } catch {
                self.logger.debug(
                    "What has left the queue elsewhere is known at the next launch",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }

    private func connected(_ head: QueueStreamHead) {
        change { Task.isCancelled ? .init() : $0.connected(head) }
    }

    private func receive(_ events: [ServerSentEventParser.Event]) {
        // What a stream that was cancelled still had to say comes again with the next one. The
        // queue is cancelled under its lock, so this is the place to ask.
        change { Task.isCancelled ? .init() : $0.receive(events) }
    }
}
