public import EventTypes

/// The unfinished transactions of an account, as one document.
public struct QueueResponse: Codable, Hashable, Sendable {
    /// The revision of the queue that this is; a stream resumed from it misses no transaction.
    public var revision: Int64
    /// The unfinished transactions, oldest first.
    public var transactions: [QueueChanged]
    /// Makes an answer.
    public init(revision: Int64, transactions: [QueueChanged]) {
        self.revision = revision
        self.transactions = transactions
    }
}

/// What the head of a queue's stream says, so that a client which comes back finds out whether it is
/// still the queue that it knew.
///
/// A database that was restored from a backup knows less than it has told of. Its queues may be
/// behind what their clients have, or may have gone on beyond it by then: the first shows by the
/// revision, the second by the database.
public struct QueueStreamHead: Hashable, Sendable {
    /// The HTTP field of the revision.
    public static let revisionField = "queue-revision"
    /// The HTTP field of the database.
    public static let databaseField = "queue-database"

    /// The revision that the queue had when the stream was opened; `nil` where the store says none.
    public var revision: Int64?
    /// Names the database as it is since it was started last.
    ///
    /// The same name is of the same database; another name may be of another one. `nil` where the
    /// store says none.
    public var database: String?

    /// Makes what a store says.
    public init(revision: Int64?, database: String?) {
        self.revision = revision
        self.database = database
    }

    /// Reads the fields of an answer.
    public init(revision: String?, database: String?) {
        self.init(revision: revision.flatMap { Int64($0) }, database: database)
    }
}

/// A page of an account's transactions, finished ones too.
public struct HistoryResponse: Codable, Hashable, Sendable {
    /// The transactions, in the order of their last change.
    public var transactions: [QueueChanged]
    /// Where the next page begins; `nil` after the last one.
    public var next: Int64?
    /// Makes a page.
    public init(transactions: [QueueChanged], next: Int64?) {
        self.transactions = transactions
        self.next = next
    }
}

/// The answer to a finish: the same however often it is asked.
public struct FinishResponse: Codable, Hashable, Sendable {
    /// The transaction that is finished.
    public var transactionID: TransactionID
    /// When it was finished first.
    public var finishedAt: Timestamp
    /// Makes an answer.
    public init(transactionID: TransactionID, finishedAt: Timestamp) {
        self.transactionID = transactionID
        self.finishedAt = finishedAt
    }
}

/// What an account owns.
public struct EntitlementsResponse: Codable, Hashable, Sendable {
    /// The products, by the transaction that gave each.
    public var entitlements: [Entitlement]
    /// Makes an answer.
    public init(entitlements: [Entitlement]) { self.entitlements = entitlements }
}

/// One product that an account owns.
public struct Entitlement: Codable, Hashable, Sendable {
    /// The product.
    public var productID: ProductID
    /// The first transaction of the purchase that gave it.
    public var originalTransactionID: TransactionID
    /// Since when.
    public var grantedAt: Timestamp
    /// When a refund took it away; `nil` while it is owned.
    public var revokedAt: Timestamp?
    /// Makes an entitlement.
    public init(
        productID: ProductID,
        originalTransactionID: TransactionID,
        grantedAt: Timestamp,
        revokedAt: Timestamp? = nil
    ) {
        self.productID = productID
        self.originalTransactionID = originalTransactionID
        self.grantedAt = grantedAt
        self.revokedAt = revokedAt
    }
}

/// An account's balances of consumable units.
public struct CreditsResponse: Codable, Hashable, Sendable {
    /// The balance of each unit; below zero after a refund of what was spent.
    public var balances: [String: Int64]
    /// Makes an answer.
    public init(balances: [String: Int64]) { self.balances = balances }
}

/// What an app may ask of its receipt (``Routes/appReceipt``): the names of the query's parameters.
public enum AppReceiptQuery {
    /// A UUID: the device that the receipt is bound to by its hash.
    public static let device = "device"
    /// The app's version, 1 to 64 visible ASCII characters.
    public static let applicationVersion = "applicationVersion"
    /// `true` in a sandbox: a receipt that has expired, for tests.
    public static let expired = "expired"
    /// `true` in a sandbox: a receipt of which every purchase was revoked, for tests.
    public static let revoked = "revoked"
    /// `true` in a sandbox: a receipt of an app that was bought in volume, for tests.
    public static let volumePurchase = "vpp"
}

/// The signed transaction that `receipts` serves.
public struct ReceiptResponse: Codable, Hashable, Sendable {
    /// A JWS in compact form: ES256, with the three certificates of its chain in `x5c`.
    public var signedTransaction: String
    /// The order that it was paid with; `nil` for what nothing was charged for.
    public var orderId: String?
    /// Makes an answer.
    public init(signedTransaction: String, orderId: String? = nil) {
        self.signedTransaction = signedTransaction
        self.orderId = orderId
    }
}

/// A transaction that an app has yet to finish, as administrators are told of it.
public struct UnfinishedTransaction: Codable, Hashable, Sendable {
    /// The transaction.
    public var transactionID: TransactionID
    /// Whose it is.
    public var accountID: AccountID
    /// In which app.
    public var bundleID: BundleID
    /// Purchased, restored or failed.
    public var state: TransactionState
    /// Whether everything it owes is delivered, so that it can be finished.
    public var isDelivered: Bool
    /// When it changed last.
    public var changedAt: Timestamp

    /// Makes one.
    public init(
        transactionID: TransactionID,
        accountID: AccountID,
        bundleID: BundleID,
        state: TransactionState,
        isDelivered: Bool,
        changedAt: Timestamp
    ) {
        self.transactionID = transactionID
        self.accountID = accountID
        self.bundleID = bundleID
        self.state = state
        self.isDelivered = isDelivered
        self.changedAt = changedAt
    }
}

/// A page of what apps have yet to finish, by account (`GET /v1/admin/queue/unfinished`).
public struct UnfinishedResponse: Codable, Hashable, Sendable {
    /// Where the next page begins; `nil` on the last.
    public var next: String?
    /// The transactions.
    public var transactions: [UnfinishedTransaction]

    /// Makes a page.
    public init(next: String?, transactions: [UnfinishedTransaction]) {
        self.next = next
        self.transactions = transactions
    }
}

/// What is sent again (`POST /v1/admin/transactions/{id}/webhooks`).
public struct WebhooksAgainResponse: Codable, Hashable, Sendable {
    /// How many webhooks the transaction has; each is sent under the id it has.
    public var webhooks: Int

    /// Makes an answer.
    public init(webhooks: Int) { self.webhooks = webhooks }
}
