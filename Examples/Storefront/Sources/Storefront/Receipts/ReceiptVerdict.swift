import ReceiptValidation

/// The verdict of this server on the store's signature under a transaction.
struct ReceiptVerdict: Sendable, Encodable, Equatable {
    /// Whether the signature is of the store, and for this app and this transaction.
    var isVerified: Bool
    /// The reason if it is not.
    var refusal: String?
    /// The receipt, so that the page can show what was verified.
    var signedTransaction: String
    /// The order that a support team finds the payment by; `nil` if nothing was charged.
    var orderId: String?

    /// Judges a receipt.
    ///
    /// It never trusts the browser, and never a receipt that another transaction has.
    init(
        _ signedTransaction: String,
        of transactionID: String,
        orderId: String? = nil,
        by validator: ReceiptValidator
    ) {
        self.signedTransaction = signedTransaction
        self.orderId = orderId
        do throws(ReceiptRefusal) {
            let transaction = try validator.verify(signedTransaction, as: JWSTransaction.self)
            isVerified = transaction.transactionId == transactionID
            refusal = isVerified ? nil : "it is the receipt of another transaction"
        } catch {
            isVerified = false
            refusal = error.description
        }
    }
}
