/// A promotional offer as a merchant's server has signed it for a payment (rule S49).
///
/// It is StoreKit's `SKPaymentDiscount`. A missing member is refused with `offer_incomplete`.
public struct PaymentDiscount: Codable, Hashable, Sendable {
    /// The id of the offer.
    public var identifier: String?
    /// The id of the key that signed it.
    public var keyIdentifier: String?
    /// The UUID that makes the signature usable once.
    public var nonce: String?
    /// The signature in DER and base64.
    public var signature: String?
    /// The time of the signature, in milliseconds since 1970.
    public var timestamp: Int64?

    /// Makes a discount.
    public init(
        identifier: String?,
        keyIdentifier: String?,
        nonce: String?,
        signature: String?,
        timestamp: Int64?
    ) {
        self.identifier = identifier
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.signature = signature
        self.timestamp = timestamp
    }
}
