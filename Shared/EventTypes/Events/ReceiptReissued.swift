/// `receipt.reissued.v1`: a receipt was signed again.
///
/// The reason is a refund of its transaction, or an account token set by a merchant's server.
public struct ReceiptReissued: Event, Hashable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The first transaction of the same purchase.
    public var originalTransactionID: TransactionID
    /// The transaction as it is now signed; `nil` if only the account token is new.
    public var transaction: Transaction?
    /// The certificate chain of the signature.
    public var signingChainID: String
    /// SHA-256 of the signed payload, in hexadecimal.
    public var payloadSHA256: String
    /// The time of the signature.
    public var issuedAt: Timestamp
    /// The other signed values and the signature.
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
