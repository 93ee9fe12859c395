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

/// Every receipt of an account in an app (spec rules 78 to 82).
public struct AppReceiptResponse: Codable, Hashable, Sendable {
    /// The app.
    public var bundleID: BundleID
    /// The signed transactions, oldest first; consumables only until they are finished.
    public var signedTransactions: [String]
    /// Makes an answer.
    public init(bundleID: BundleID, signedTransactions: [String]) {
        self.bundleID = bundleID
        self.signedTransactions = signedTransactions
    }
}

/// The signed transaction that `receipts` serves.
public struct ReceiptResponse: Codable, Hashable, Sendable {
    /// A JWS in compact form: ES256, with the three certificates of its chain in `x5c`.
    public var signedTransaction: String
    /// Makes an answer.
    public init(signedTransaction: String) { self.signedTransaction = signedTransaction }
}
