/// A response with a signed transaction from `receipts`.
public struct ReceiptResponse: Codable, Hashable, Sendable {
    /// A JWS in compact form: ES256, with its certificate chain, three certificates, in `x5c`.
    public var signedTransaction: String
    /// The order id of the payment; `nil` if nothing was charged.
    public var orderId: String?
    /// Makes a response.
    public init(signedTransaction: String, orderId: String? = nil) {
        self.signedTransaction = signedTransaction
        self.orderId = orderId
    }
}
