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
