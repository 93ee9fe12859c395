import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import OperatorCore
import StoreAPI

/// One purchase from the buyer's side, step by step.
///
/// A service that is away is asked again until the deadline, with the same idempotency key. The
/// store treats the repetitions as one request.
struct Purchase: Sendable {
    let catalog: StoreConnection
    let payments: StoreConnection
    let fulfillment: StoreConnection
    let deadline: ContinuousClock.Instant
    let tell: @Sendable (String) -> Void

    /// Asks what the product costs.
    func listing(
        of product: ProductID,
        in storefront: Storefront,
        language: LanguageTag
    ) async throws(OperatorError) -> ProductListing {
        let response = try await catalog.send(
            .GET,
            Routes.products,
            StoreConnection.Content(query: [
                ("ids", product.rawValue),
                ("storefront", storefront.rawValue),
                ("language", language.rawValue),
            ]),
            as: ProductsResponse.self
        )
        guard let listing = response.products.first else {
            throw OperatorError(.failed, "\(product) is not for sale in \(storefront).")
        }
        tell("Product      \(listing.title) (\(listing.id)), \(listing.price)")
        return listing
    }

    /// Adds the payment to the account's queue, once for each key.
    func pay(
        _ request: PaymentRequest,
        under key: IdempotencyKey
    ) async throws(OperatorError) -> Transaction {
        let content = try StoreConnection.Content.json(
            request,
            headers: [("Idempotency-Key", key.rawValue)]
        )
        let response = try await persistently { () async throws(OperatorError) in
            try await payments.send(
                .POST,
                Routes.payments,
                content,
                as: TransactionResponse.self
            )
        }
        let transaction = response.transaction
        tell("Transaction  \(transaction.id), \(transaction.price), \(transaction.state)")
        return transaction
    }

    /// Follows the account's queue until the transaction is delivered or failed.
    func outcome(of id: TransactionID) async throws(OperatorError) -> QueueChanged {
        let found: QueueChanged?
        do {
            found = try await withThrowingTaskGroup(of: QueueChanged?.self) { group in
                group.addTask { try await follow(id) }
                group.addTask {
                    try await Task.sleep(until: deadline, clock: .continuous)
                    return nil
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        } catch let error as OperatorError {
            throw error
        } catch {
            throw OperatorError(.failed, "The queue cannot be followed: \(error)")
        }
        guard let found else {
            throw OperatorError(
                .stillWaiting,
                "Transaction \(id) is accepted but not complete yet. It waits in the queue."
            )
        }
        return found
    }

    /// Finishes the transaction.
    func finish(_ id: TransactionID) async throws(OperatorError) -> FinishResponse {
        let response = try await persistently { () async throws(OperatorError) in
            try await fulfillment.send(.POST, Routes.finish(id), as: FinishResponse.self)
        }
        tell("Finished     \(response.finishedAt)")
        return response
    }

    private func follow(_ id: TransactionID) async throws -> QueueChanged {
        var lastEventID: String?
        var lastTold = ""
        while true {
            let resumeAfter = lastEventID
            let body = try await persistently { () async throws(OperatorError) in
                try await fulfillment.stream(Routes.queue, resumingAfter: resumeAfter)
            }
            var parser = ServerSentEventParser()
            do {
                for try await bytes in body {
                    for event in try parser.parse(bytes.readableBytesView) {
                        lastEventID = event.id ?? lastEventID
                        guard let change = change(in: event), change.transaction.id == id else {
                            continue
                        }
                        let line = Self.line(for: change)
                        if line != lastTold { tell(line) }
                        lastTold = line
                        if try isEnd(change) { return change }
                    }
                }
            } catch let error where !(error is OperatorError || error is CancellationError) {
                // The stream broke off: the next one resumes after the last event received.
                lastTold = ""
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// A change of the queue; other kinds of event are ignored.
    private func change(in event: ServerSentEventParser.Event) -> QueueChanged? {
        // Only a newer store sends a change that cannot be read. Another one follows, or the wait ends.
        try? EventCoding.decode(QueueChanged.self, from: event.data)
    }

    private func isEnd(_ change: QueueChanged) throws(OperatorError) -> Bool {
        switch change.transaction.state {
        case .failed: return true
        case .purchased, .restored: return change.isDelivered || change.finishedAt != nil
        case .deferred:
            throw OperatorError(
                .stillWaiting,
                """
                Transaction \(change.transaction.id) waits for approval: \
                counterfoil approve \(change.transaction.id)
                """
            )
        case .purchasing, .unknown: return false
        }
    }

    private static func line(for change: QueueChanged) -> String {
        let state = change.transaction.state
        let reason = change.transaction.failureReason.map { " (\($0))" } ?? ""
        let delivery =
            state == .purchased ? (change.isDelivered ? ", delivered" : ", on its way") : ""
        let wait = change.transaction.awaitsBuyer == true ? ", the buyer has to confirm it" : ""
        return "Queue        \(state)\(reason)\(delivery)\(wait)"
    }

    /// Asks until the answer comes, or a refusal, or the deadline.
    private func persistently<Answer: Sendable>(
        _ ask: @Sendable () async throws(OperatorError) -> Answer
    ) async throws(OperatorError) -> Answer {
        while true {
            do throws(OperatorError) {
                return try await ask()
            } catch {
                guard error.code == .unavailable, ContinuousClock.now < deadline else {
                    throw error
                }
            }
            do {
                try await Task.sleep(for: .milliseconds(500))
            } catch {
                throw OperatorError(.stillWaiting, "Stopped waiting.")
            }
        }
    }
}
