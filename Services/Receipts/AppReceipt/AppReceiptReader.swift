import EventTypes
import Postgres

/// Makes app receipts of what the database holds.
struct AppReceiptReader: Sendable {
    /// The newest purchases that a receipt holds.
    static let entriesMax = 5_000

    let store = AppReceiptStore()
    let client: PostgresClient
    let signer: AppReceiptSigner
    let environment: StoreEnvironment
    let now: @Sendable () -> Timestamp

    /// The receipt of an account in an app: PKCS#7 in DER.
    ///
    /// Asking changes nothing and makes no transaction (spec rule 80).
    func receipt(
        of owner: (account: AccountID, bundle: BundleID),
        _ question: AppReceiptQuestion
    ) async throws -> [UInt8] {
        try receipt(of: owner, question, entries: try await entries(of: owner))
    }

    /// The receipt over entries that were read already.
    func receipt(
        of owner: (account: AccountID, bundle: BundleID),
        _ question: AppReceiptQuestion,
        entries: [AppReceiptEntry]
    ) throws -> [UInt8] {
        let now = now()
        let content = AppReceiptContent(
            account: owner.account,
            bundleID: owner.bundle,
            environment: environment,
            question: question,
            entries: entries
        )
        return try signer.sign(content.encoded(at: now), at: now)
    }

    /// What a receipt of the account would hold; the newest `limit` of it.
    func entries(
        of owner: (account: AccountID, bundle: BundleID),
        upTo limit: Int = entriesMax
    ) async throws -> [AppReceiptEntry] {
        try await client.withConnection { [store] connection in
            try store.entries(of: owner, limit: limit, on: connection)
        }
    }

    /// Who made a purchase, by any of its transactions.
    func account(
        of transactions: [TransactionID],
        in bundle: BundleID
    ) async throws -> AccountID? {
        try await client.withConnection { [store] connection in
            try store.account(of: transactions, in: bundle, on: connection)
        }
    }
}
