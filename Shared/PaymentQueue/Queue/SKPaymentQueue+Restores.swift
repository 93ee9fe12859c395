import EventTypes
import Foundation
import Logging
import StoreAPI
import Synchronization

/// The outcome of a restore.
enum RestoreEnd: Sendable {
    case finished
    case failed(SKError)
}

extension SKPaymentQueue {
    /// Restores the account's purchases.
    ///
    /// The store makes one new transaction for each finished purchase that can be restored. After
    /// them it calls
    /// ``SKPaymentTransactionObserver/paymentQueueRestoreCompletedTransactionsFinished(_:)`` (spec
    /// rules 62 to 70).
    ///
    /// Call this method only when the buyer asks for it.
    public func restoreCompletedTransactions() {
        restoreCompletedTransactions(withApplicationUsername: nil)
    }

    /// Restores the purchases made under an application username (spec rule 67).
    ///
    /// - Parameter username: The username of the payments; `nil` restores all purchases.
    public func restoreCompletedTransactions(withApplicationUsername username: String?) {
        Task { await self.restore(RestoreRequest(applicationUsername: username)) }
    }

    /// Restores only the products that the buyer has selected (spec rules 74 to 76).
    ///
    /// Use it, for example, to avoid large downloads on this device. Other products get no
    /// transaction, so there is nothing to sort out or to finish.
    ///
    /// - Parameters:
    ///   - productIdentifiers: The selected products.
    ///   - username: The username of the payments; `nil` restores all purchases of these products.
    public func restoreCompletedTransactions(
        of productIdentifiers: Set<String>,
        withApplicationUsername username: String? = nil
    ) {
        // A string that is not a valid product identifier was never bought.
        let productIDs = productIdentifiers.sorted().compactMap(ProductID.init(rawValue:))
        let request = RestoreRequest(applicationUsername: username, productIDs: productIDs)
        Task { await self.restore(request) }
    }

    /// Makes a restore and informs the observers of its outcome: exactly one of two calls (spec
    /// rule 65).
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
                // The restore has no effect and ends like a restore without purchases (spec rule
                // 66).
                logger.warning(
                    "Nothing is restored: a build version is one to three integers with periods",
                    metadata: ["applicationVersion": "\(version)"]
                )
                return change { $0.await([], of: restore) }
            }
            // The buyer is asked to sign in. If the store wants an even newer token, the buyer is
            // asked once more.
            try await transport.renewToken()
            let response: RestoreResponse = try await transport.sendUntilAnswered(
                .post(
                    transport.configuration.addresses.payments + Routes.restores,
                    request,
                    idempotencyKey: IdempotencyKey(unchecked: UUID().uuidString)
                ),
                patience: .until(.now + transport.configuration.requestTimeout * 2)
            )
            change { $0.await(response.transactions.map(\.id), of: restore) }
            try await look(for: restore, transport)
        } catch {
            restoreFailed(restore, SKError(error))
        }
    }

    /// Searches the account's history for the transactions that a restore is waiting for.
    ///
    /// A stream begins with the unfinished transactions, so it omits a transaction that another
    /// device has already finished. This is rare. The search therefore begins only after the time
    /// limit of an answer, and its intervals grow. It pauses while there are no observers.
    ///
    /// - Throws: ``SKError`` if the store has answered for about an hour that it does not know the
    ///   transactions it restored; or `CancellationError`.
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
                // The store cannot be reached, which says nothing about the transactions.
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

    /// Informs the observers that a restore failed, if they have not heard of its end yet.
    func restoreFailed(_ restore: PendingRestores.Number, _ error: SKError) {
        state.withLock { state in
            if state.pending.restores.giveUp(restore) { end(.failed(error), &state) }
        }
    }

    /// Informs the observers of a restore's outcome.
    ///
    /// If there are none, the next observer is informed.
    func end(_ end: RestoreEnd, _ state: inout State) {
        let observers = state.observers.filter { !$0.isFollower }
        guard observers.isEmpty else { return tell(observers, end) }
        if !state.isClosed { state.restoresUntold.append(end) }
    }

    func tell(_ observers: [AppObserver], _ end: RestoreEnd) {
        callbacks.async {
            let present = observers.filter(self.isRegistered)
            for observer in present where self.isRegistered(observer) { self.call(observer, end) }
            // All observers were removed in the meantime. New ones may exist already, or will be
            // added later.
            if present.isEmpty { self.state.withLock { self.end(end, &$0) } }
        }
    }

    /// Informs observers of a queue that another configuration has replaced.
    ///
    /// Nothing else informs them.
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
