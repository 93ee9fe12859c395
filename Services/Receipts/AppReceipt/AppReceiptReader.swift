import EventTypes
import Postgres

/// Makes app receipts from the database.
struct AppReceiptReader: Sendable {
    /// The largest number of purchases in a receipt.
    ///
    /// The newest stay.
    static let entriesMax = 5_000

    let store = AppReceiptStore()
    let client: PostgresClient
    let signer: AppReceiptSigner
    let environment: StoreEnvironment
    let now: @Sendable () -> StoreTime

    /// Returns the receipt of an account in an app: PKCS#7 in DER.
    ///
    /// A request changes nothing and creates no transaction (spec rule 80).
    func receipt(
        of owner: (account: AccountID, bundle: BundleID),
        _ question: AppReceiptQuestion
    ) async throws -> [UInt8] {
        try receipt(of: owner, question, entries: try await entries(of: owner))
    }

    /// Returns the receipt for entries that have been read already.
    func receipt(
        of owner: (account: AccountID, bundle: BundleID),
        _ question: AppReceiptQuestion,
        entries: [AppReceiptEntry]
    ) throws -> [UInt8] {
        let content = AppReceiptContent(
            account: owner.account,
            bundleID: owner.bundle,
            environment: environment,
            question: question,
            entries: entries
        )
        return try signer.sign(content.encoded(at: now()))
    }

    /// Returns the entries of the account's receipt, limited to the newest `limit`.
    func entries(
        of owner: (account: AccountID, bundle: BundleID),
        upTo limit: Int = entriesMax
    ) async throws -> [AppReceiptEntry] {
        try await client.withConnection { [store] connection in
            try store.entries(of: owner, limit: limit, on: connection)
        }
    }

    /// Returns the subscriptions of the account in the app, the oldest first.
    func subscriptions(
        of owner: (account: AccountID, bundle: BundleID)
    ) async throws -> [Subscription] {
        try await client.withConnection { connection in
            try SubscriptionStatusStore.load(
                of: OwnerKey(account: owner.account, bundle: owner.bundle),
                on: connection
            )
        }
    }

    /// Returns the account that made a purchase, found by any of its transactions.
    func account(
        of transactions: [TransactionID],
        in bundle: BundleID
    ) async throws -> AccountID? {
        try await client.withConnection { [store] connection in
            try store.account(of: transactions, in: bundle, on: connection)
        }
    }
}
