import EventTypes
import Foundation
import Messaging
import Postgres
import ServiceKit
import StoreTracing

/// Sets the account token of a purchase.
///
/// The receipts of all transactions of the purchase are signed again with the token, and all later
/// receipts contain it, too. The purchase is named by its first transaction, the original.
///
/// A purchase may have thousands of copies. They are signed in batches, each in a database
/// transaction of its own, so that the account is locked only briefly. A server that got no answer
/// repeats the request, and the same work is done again.
struct AppAccountTokenHandler: Sendable {
    let receipts: ReceiptStore
    let store: ServerAPIStore
    let client: PostgresClient
    let signer: ReceiptSigner
    let now: @Sendable () -> StoreTime
    /// The number of receipts signed under one lock.
    var batch = 200

    /// Sets the token of an app's original transaction.
    ///
    /// Repeating it with the same token has the same effect.
    ///
    /// - Parameters:
    ///   - token: A UUID in lower case.
    ///   - id: The original transaction.
    ///   - bundle: The app.
    ///   - trace: The trace of the request, which the events continue.
    /// - Throws: ``ServerAPIError`` if the transaction does not exist or is not an original.
    func set(
        _ token: String,
        of id: TransactionID,
        in bundle: BundleID,
        trace: TraceContext
    ) async throws {
        let now = now()
        var last: TransactionID?
        repeat {
            let after = last
            last = try await client.withTransaction { [self] connection in
                try set(
                    token,
                    of: id,
                    in: bundle,
                    after: after,
                    trace,
                    at: now,
                    on: connection
                )
            }
        } while last != nil
    }

    /// Signs one batch.
    ///
    /// - Returns: The last transaction of the batch, or `nil` if none is left.
    private func set(
        _ token: String,
        of id: TransactionID,
        in bundle: BundleID,
        after last: TransactionID?,
        _ trace: TraceContext,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> TransactionID? {
        guard let origin = try store.origin(of: id, on: connection), origin.owner.bundle == bundle
        else { throw ServerAPIError.transactionIDNotFound }
        guard origin.originalID == id else { throw ServerAPIError.transactionIDIsNotOriginal }
        // The account is locked first, as where events are signed, so that neither misses the
        // other's writes.
        let appTransactions = try store.lock([origin.owner], at: now, on: connection)
        if last == nil {
            try store.setAccountToken(token, of: id, at: now, on: connection)
        } else if try connection.read(store.accountTokens(of: [id]))[id] != token {
            // Another token has been set since, and that request signs everything with it.
            return nil
        }
        let payloads = try store.payloads(of: id, after: last, limit: batch, on: connection)
        let positions = try connection.read(store.positions(payloads.count))
        let signed = try zip(payloads, positions).map { entry, position in
            (
                id: entry.id,
                content: try signer.signAgain(entry.payload, appAccountToken: token, at: now),
                position: position
            )
        }
        try store.replace(
            signed,
            chainNumber: try receipts.number(of: signer.chain, at: now, on: connection),
            on: connection
        )
        try Outbox.append(
            signed.map { entry in
                let signing = ReceiptSigning(
                    appAccountToken: token,
                    appTransactionID: appTransactions[origin.owner],
                    environment: signer.environment.rawValue,
                    historyPosition: entry.position,
                    signature: Data(entry.content.signature).base64EncodedString()
                )
                return OutboxEvent(
                    ReceiptReissued(
                        transactionID: entry.id,
                        originalTransactionID: id,
                        transaction: nil,
                        signingChainID: signer.chain.id,
                        payloadSHA256: entry.content.payloadSHA256,
                        issuedAt: entry.content.signedAt,
                        signing: signing
                    ),
                    key: origin.owner.account,
                    at: now,
                    traceparent: trace
                )
            },
            on: connection
        )
        return payloads.count < batch ? nil : payloads.last?.id
    }
}
