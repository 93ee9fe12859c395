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
