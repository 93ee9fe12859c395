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
                try await transport.readQueue(after: lastEventID, didOpen: hadOpened.fire) {
                    events in
                    self.receive(events)
                }
            } catch {
                if !Task.isCancelled {
                    logger.debug("The queue's stream broke off", metadata: ["error": "\(error)"])
                }
            }
            failures = hadOpened.hasFired ? 1 : failures + 1
            // Cancelled: the loop's condition ends it.
            try? await transport.pause(afterFailures: failures)
        }
    }

    private func receive(_ events: [ServerSentEventParser.Event]) {
        // What a stream that was cancelled still had to say comes again with the next one. The
        // queue is cancelled under its lock, so this is the place to ask.
        change { Task.isCancelled ? .init() : $0.receive(events) }
    }
}
