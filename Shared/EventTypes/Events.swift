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
    /// The administrator who changed it; `nil` in events of before they said so.
    public var changedBy: String?
    /// Makes the event.
    public init(product: Product, changedBy: String? = nil) {
        self.product = product
        self.changedBy = changedBy
    }
}

/// `transaction.purchasing.v1`, `.deferred.v1`, `.purchased.v1`, `.failed.v1`, `.restored.v1` and
/// `.refunded.v1`: a transaction moved to the state it carries.
///
/// `.approved.v1`, `.stray-charged.v1` and `.stray-charge-returned.v1` tell what happened around one
/// that stays as it is. With them the log says everything that the books of `payments` hold.
public struct TransactionChanged: Event, Hashable {
    /// The transaction, whole, at its new version.
    public var transaction: Transaction
    /// The posting that moved the money of this change; `nil` if none moved.
    public var posting: PostingReference?
    /// The purchase intent that this payment pays; with its first event only.
    public var purchaseIntentID: PurchaseIntentID?
    /// The interrupted transaction that this one takes up; with its first event only.
    public var resumes: TransactionID?
    /// The environment of the store that took it: `Sandbox` or `Production`.
    ///
    /// `nil` in events of before it was told.
    public var environment: String?
    /// Makes the event.
    public init(
        transaction: Transaction,
        posting: PostingReference? = nil,
        purchaseIntentID: PurchaseIntentID? = nil,
        resumes: TransactionID? = nil,
        environment: String? = nil
    ) {
        self.transaction = transaction
        self.posting = posting
        self.purchaseIntentID = purchaseIntentID
        self.resumes = resumes
        self.environment = environment
    }
}

/// What an event says of the posting that was written with it: enough to write it again.
public struct PostingReference: Codable, Hashable, Sendable {
    /// The posting's identity, a UUID.
    public var id: EventID
    /// The rate of the tax contained in the price, in hundredths of a percent.
    public var taxBasisPoints: Int
    /// The amount, where it is not the transaction's price: that of a stray charge.
    public var gross: Money?
    /// Names a posting.
    public init(id: EventID, taxBasisPoints: Int, gross: Money? = nil) {
        self.id = id
        self.taxBasisPoints = taxBasisPoints
        self.gross = gross
    }
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
    /// What was signed beside the transaction, and the signature; `nil` in events of before it was
    /// told.
    public var signing: ReceiptSigning?
    /// Makes the event.
    public init(
        transaction: Transaction,
        signingChainID: String,
        payloadSHA256: String,
        issuedAt: Timestamp,
        signing: ReceiptSigning? = nil
    ) {
        self.transaction = transaction
        self.signingChainID = signingChainID
        self.payloadSHA256 = payloadSHA256
        self.issuedAt = issuedAt
        self.signing = signing
    }
}

/// What a receipt says beside its transaction, and its signature: with it the log holds every receipt
/// that the store has given.
public struct ReceiptSigning: Codable, Hashable, Sendable {
    /// The account token that a merchant's server has set.
    public var appAccountToken: String?
    /// The app transaction of the account in the app.
    public var appTransactionID: Int64?
    /// `Production` or `Sandbox`.
    public var environment: String
    /// Where it stands in the history of its account.
    public var historyPosition: Int64
    /// r and s of the signature, 64 bytes in base64.
    public var signature: String
    /// Gathers what was signed.
    public init(
        appAccountToken: String?,
        appTransactionID: Int64?,
        environment: String,
        historyPosition: Int64,
        signature: String
    ) {
        self.appAccountToken = appAccountToken
        self.appTransactionID = appTransactionID
        self.environment = environment
        self.historyPosition = historyPosition
        self.signature = signature
    }
}

/// `receipt.reissued.v1`: a receipt was signed again, because its transaction was refunded or a
/// merchant's server has set an account token.
public struct ReceiptReissued: Event, Hashable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The first transaction of its purchase.
    public var originalTransactionID: TransactionID
    /// The transaction as it is signed now; `nil` where only the account token is new.
    public var transaction: Transaction?
    /// The chain it was signed with.
    public var signingChainID: String
    /// SHA-256 of the signed payload, in hexadecimal.
    public var payloadSHA256: String
    /// When it was signed.
    public var issuedAt: Timestamp
    /// What was signed beside the transaction, and the signature.
    public var signing: ReceiptSigning
    /// Makes the event.
    public init(
        transactionID: TransactionID,
        originalTransactionID: TransactionID,
        transaction: Transaction?,
        signingChainID: String,
        payloadSHA256: String,
        issuedAt: Timestamp,
        signing: ReceiptSigning
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.transaction = transaction
        self.signingChainID = signingChainID
        self.payloadSHA256 = payloadSHA256
        self.issuedAt = issuedAt
        self.signing = signing
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

/// `delivery.confirmed.v1`: the recipient of a delivery has confirmed it.
///
/// Only what somebody outside confirms: what the store gives itself is given with the change of the
/// queue, and what the app delivers is confirmed by its finish.
public struct DeliveryConfirmed: Event, Hashable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The target: its place in the delivery plan and its kind, `1:webhook`.
    public var target: String
    /// Which try was confirmed, from 1.
    public var attempts: Int
    /// When.
    public var confirmedAt: Timestamp
    /// Makes the event.
    public init(
        transactionID: TransactionID,
        target: String,
        attempts: Int,
        confirmedAt: Timestamp
    ) {
        self.transactionID = transactionID
        self.target = target
        self.attempts = attempts
        self.confirmedAt = confirmedAt
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
