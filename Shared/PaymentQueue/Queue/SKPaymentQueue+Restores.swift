import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

/// How a restore ended.
enum RestoreEnd: Sendable {
    case finished
    case failed(SKError)
}

extension SKPaymentQueue {
    /// Restores what the account has bought: one new transaction for each finished purchase that can
    /// be restored, and then
    /// ``SKPaymentTransactionObserver/paymentQueueRestoreCompletedTransactionsFinished(_:)`` (spec
    /// rules 62 to 70).
    ///
    /// Call it when the buyer asks for it, never by yourself.
    public func restoreCompletedTransactions() {
        restoreCompletedTransactions(withApplicationUsername: nil)
    }

    /// Restores what the account has bought under a name of the app's own (spec rule 67).
    ///
    /// - Parameter username: The name that the payments carried; `nil` for all.
    public func restoreCompletedTransactions(withApplicationUsername username: String?) {
        Task { await self.restore(RestoreRequest(applicationUsername: username)) }
    }

    /// Restores what the buyer has picked, such as what is worth a large download on this device
    /// (spec rules 74 to 76): of everything else there is no transaction, so nothing to tell apart
    /// or to finish.
    ///
    /// - Parameters:
    ///   - productIdentifiers: The products that were picked.
    ///   - username: The name that the payments carried; `nil` for all.
    public func restoreCompletedTransactions(
        of productIdentifiers: Set<String>,
        withApplicationUsername username: String? = nil
    ) {
        // What is no product's name was never bought.
        let productIDs = productIdentifiers.sorted().compactMap(ProductID.init(rawValue:))
        let request = RestoreRequest(applicationUsername: username, productIDs: productIDs)
        Task { await self.restore(request) }
    }

    /// Restores, and tells the observers how it ended: exactly one of the two (spec rule 65).
    func restore(_ request: RestoreRequest) async {
        let begun = state.withLock { $0.isClosed ? nil : $0.pending.restores.begin() }
        guard let restore = begun else {
            return logger.warning(
                "A restore was asked of a queue that SKPaymentQueue.configure has replaced"
            )
        }
        do {
            guard let transport else { throw SKError.notConfigured }
            if let version = transport.configuration.applicationVersion,
                !BuildVersion.isWellFormed(version)
            {
                // Without effect, and it ends as a restore of nothing does (spec rule 66).
                logger.warning(
                    "Nothing is restored: a build version is one to three integers with periods",
                    metadata: ["applicationVersion": "\(version)"]
                )
                return change { $0.await([], of: restore) }
            }
            // The buyer is asked who they are; if the store wants a newer token still, once more.
            try await transport.renewToken()
            let response: RestoreResponse = try await transport.sendUntilAnswered(
                .post(
                    transport.configuration.addresses.payments + Routes.restores,
                    request,
                    idempotencyKey: UUID().uuidString
                ),
                patience: .until(.now + transport.configuration.requestTimeout * 2)
            )
            change { $0.await(response.transactions.map(\.id), of: restore) }
            try await look(for: restore, transport)
        } catch {
            restoreFailed(restore, SKError(error))
        }
    }

    /// Looks for what a restore waits for in the account's history, should the stream not tell of it.
    ///
    /// A stream begins with what is unfinished: what another device had finished by then it never
    /// speaks of. That is rare, so it is looked for only after as long as an answer may take, and
    /// less and less often; while nobody observes, not at all.
    ///
    /// - Throws: ``SKError`` when the store has said often enough, for about an hour, that it does
    ///   not know what it has restored; or `CancellationError`.
    private func look(for restore: PendingRestores.Number, _ transport: StoreTransport) async throws
    {
        var pause = transport.configuration.requestTimeout
        var looks = 0
        while looks < 8 {
            guard state.withLock({ $0.pending.restores.isAwaited(restore) }) else { return }
            try await Task.sleep(for: pause)
            let isDue = state.withLock { state in
                state.pending.restores.isAwaited(restore) && !state.observers.isEmpty
            }
            guard isDue else { continue }
            pause = min(pause * 2, .seconds(1800))
            do {
                try await readHistory(transport)
                looks += 1
            } catch is StoreFailure {
                // The store is away; what is not known is no answer.
            }
        }
        throw SKError(.unknown, detail: "the store does not know what it has restored")
    }

    private func readHistory(_ transport: StoreTransport) async throws {
        let address = transport.configuration.addresses.fulfillment + Routes.history
        var next: Int64? = 0
        while let after = next {
            let page: HistoryResponse = try await transport.send(.get("\(address)?after=\(after)"))
            change { $0.lookThrough(page.transactions) }
            next = page.next
        }
    }

    /// Tells the observers that a restore could not be made, if they are still to hear of it.
    func restoreFailed(_ restore: PendingRestores.Number, _ error: SKError) {
        state.withLock { state in
            if state.pending.restores.giveUp(restore) { end(.failed(error), &state) }
        }
    }

    /// Tells the observers how a restore ended, or the next one, if there is none.
    func end(_ end: RestoreEnd, _ state: inout State) {
        let observers = state.observers.filter { !$0.isFollower }
        guard observers.isEmpty else { return tell(observers, end) }
        if !state.isClosed { state.restoresUntold.append(end) }
    }

    func tell(_ observers: [AppObserver], _ end: RestoreEnd) {
        callbacks.async {
            let present = observers.filter(self.isRegistered)
            for observer in present where self.isRegistered(observer) { self.call(observer, end) }
            // All were removed since: others have come meanwhile, or will.
            if present.isEmpty { self.state.withLock { self.end(end, &$0) } }
        }
    }

    /// Tells observers that are no longer the queue's, because another configuration has taken its
    /// place: nothing else tells them.
    func tellLast(_ observers: [AppObserver], _ ends: [RestoreEnd]) {
        callbacks.async {
            for end in ends {
                for observer in observers where !observer.isFollower { self.call(observer, end) }
            }
        }
    }

    private func call(_ observer: AppObserver, _ end: RestoreEnd) {
        switch end {
        case .finished:
            observer.observer.paymentQueueRestoreCompletedTransactionsFinished(self)
        case .failed(let error):
            observer.observer
                .paymentQueue(self, restoreCompletedTransactionsFailedWithError: error)
        }
    }
}
