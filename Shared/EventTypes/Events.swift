/// A fact that a service publishes: past tense, with a version in its name.
///
/// An event's data is encoded once, when it is put into the outbox, and carried as those bytes.
public protocol Event: Codable, Sendable {
    /// The data of the event, where a type writes it itself: the same bytes as its `Encodable` form.
    func json() -> [UInt8]?
    /// Reads the data of an event, where a type reads it itself.
    ///
    /// - Returns: `nil` where only its `Decodable` form can tell.
    init?(json data: [UInt8])
}

extension Event {
    /// `nil`: Foundation's encoder writes it.
    public func json() -> [UInt8]? { nil }
    /// `nil`: Foundation's decoder reads it.
    public init?(json data: [UInt8]) { nil }
}

/// `product.changed.v1`: a product was created, changed, or put on or off sale.
public struct ProductChanged: Event, Hashable {
    /// The product, whole, at its new version.
    public var product: Product
    /// Makes the event.
    public init(product: Product) { self.product = product }
}

/// `transaction.purchasing.v1`, `.deferred.v1`, `.purchased.v1`, `.failed.v1`, `.restored.v1` and
/// `.refunded.v1`: a transaction moved to the state it carries.
public struct TransactionChanged: Event, Hashable {
    /// The transaction, whole, at its new version.
    public var transaction: Transaction
    /// Makes the event.
    public init(transaction: Transaction) { self.transaction = transaction }
}

/// `receipt.issued.v1`: the store signed a purchased or restored transaction.
public struct ReceiptIssued: Event, Hashable {
    /// The transaction that was signed, as it was signed.
    public var transaction: Transaction
    /// The chain it was signed with, as `receipts` numbers them.
    public var signingChainID: String
    /// SHA-256 of the signed payload, in hexadecimal.
    public var payloadSHA256: String
    /// When it was signed.
    public var issuedAt: Timestamp
    /// Makes the event.
    public init(
        transaction: Transaction,
        signingChainID: String,
        payloadSHA256: String,
        issuedAt: Timestamp
    ) {
        self.transaction = transaction
        self.signingChainID = signingChainID
        self.payloadSHA256 = payloadSHA256
        self.issuedAt = issuedAt
    }
}

/// `queue.changed.v1` and `transaction.finished.v1`: an account's queue changed, by one transaction
/// that entered it, moved, was delivered, or was finished.
///
/// It is what clients receive on the queue's stream, byte for byte.
public struct QueueChanged: Event, Hashable {
    /// Counts the changes to this account's queue, from 1 and without a gap; the `id` of the
    /// server-sent event.
    public var revision: Int64
    /// The transaction.
    public var transaction: Transaction
    /// Whether every delivery that the store owes is confirmed, so that it can be finished.
    public var isDelivered: Bool
    /// When it was finished and so left the queue; `nil` while it is in it.
    public var finishedAt: Timestamp?
    /// What the store hosts for it (spec rule 43), as its product had it when the transaction
    /// entered the queue as purchased or restored; `nil` if there was nothing.
    public var contents: [HostedContent]?
    /// Makes the event.
    public init(
        revision: Int64,
        transaction: Transaction,
        isDelivered: Bool,
        finishedAt: Timestamp?,
        contents: [HostedContent]? = nil
    ) {
        self.revision = revision
        self.transaction = transaction
        self.isDelivered = isDelivered
        self.finishedAt = finishedAt
        self.contents = contents
    }
}

/// `account.changed.v1`: whether an account may pay, where it buys, or what waits for its word
/// changed.
public struct AccountChanged: Event, Hashable {
    /// The account, whole, at its new version.
    public var account: Account
    /// Makes the event.
    public init(account: Account) { self.account = account }
}

/// `queue.account-changed.v1`: an account changed, as a change of its queue.
///
/// It is what clients receive on the queue's stream, byte for byte. Its revision is one of the
/// queue's own, so a stream that resumes misses it as little as a transaction.
public struct QueueAccountChanged: Event, Hashable {
    /// Counts the changes to this account's queue; the `id` of the server-sent event.
    public var revision: Int64
    /// The account.
    public var account: Account
    /// Makes the event.
    public init(revision: Int64, account: Account) {
        self.revision = revision
        self.account = account
    }
}
