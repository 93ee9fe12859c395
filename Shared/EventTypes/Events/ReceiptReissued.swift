/// `receipt.reissued.v1`: a receipt was signed again.
///
/// The reason is a refund of its transaction, the reversal of one, an account token set by a
/// merchant's server, or an upgrade that ended the period of a subscription.
public struct ReceiptReissued: Event, Hashable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The first transaction of the same purchase.
    public var originalTransactionID: TransactionID
    /// The transaction as it is now signed; `nil` if only the account token or
    /// `isUpgraded` is new.
    public var transaction: Transaction?
    /// The certificate chain of the signature.
    public var signingChainID: String
    /// SHA-256 of the signed payload, in hexadecimal.
    public var payloadSHA256: String
    /// The time of the signature.
    public var issuedAt: StoreTime
    /// The other signed values and the signature.
    public var signing: ReceiptSigning
    /// Makes the event.
    public init(
        transactionID: TransactionID,
        originalTransactionID: TransactionID,
        transaction: Transaction?,
        signingChainID: String,
        payloadSHA256: String,
        issuedAt: StoreTime,
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

extension ReceiptReissued {
    /// The data of the event.
    public func json() -> [UInt8]? { json(transaction: nil) }

    /// Encodes the event.
    ///
    /// - Parameter snapshot: The JSON of the transaction as it was received, so that members which
    ///   this version does not know are passed on; `nil` to encode the transaction, if there is one.
    /// - Returns: JSON.
    package func json(transaction snapshot: [UInt8]?) -> [UInt8] {
        var text = PlainJSONText(capacity: 512 + (snapshot?.count ?? 512))
        text.object { text in
            text.member("issuedAt", issuedAt)
            text.member("originalTransactionID", originalTransactionID.rawValue)
            text.member("payloadSHA256", payloadSHA256)
            text.member("signing", object: signing.write)
            text.member("signingChainID", signingChainID)
            if let snapshot {
                text.member("transaction", json: snapshot)
            } else if let transaction {
                text.member("transaction", object: transaction.write)
            }
            text.member("transactionID", transactionID.rawValue)
        }
        return text.bytes
    }
}
