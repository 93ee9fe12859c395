public import Foundation
import StoreAPI

/// A promotional offer that the merchant's server has signed for a payment.
///
/// The server decides which buyer gets an offer, and signs it. A signature is good for 24 hours and for
/// one payment.
public final class SKPaymentDiscount: Sendable, Hashable {
    /// The identifier of the offer: ``SKProductDiscount/identifier``.
    public let identifier: String
    /// The identifier of the key that signed the offer.
    public let keyIdentifier: String
    /// The UUID that the server has chosen for this signature.
    public let nonce: UUID
    /// The signature in DER and base64.
    public let signature: String
    /// The time of the signature, in milliseconds since 1970.
    public let timestamp: Int64

    /// Makes a discount of what the server has sent.
    public init(
        identifier: String,
        keyIdentifier: String,
        nonce: UUID,
        signature: String,
        timestamp: Int64
    ) {
        self.identifier = identifier
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.signature = signature
        self.timestamp = timestamp
    }

    /// The discount as a request carries it.
    var wire: PaymentDiscount {
        PaymentDiscount(
            identifier: identifier,
            keyIdentifier: keyIdentifier,
            nonce: nonce.uuidString.lowercased(),
            signature: signature,
            timestamp: timestamp
        )
    }

    /// Whether two discounts are the same signature.
    public static func == (left: SKPaymentDiscount, right: SKPaymentDiscount) -> Bool {
        left.identifier == right.identifier && left.keyIdentifier == right.keyIdentifier
            && left.nonce == right.nonce && left.signature == right.signature
            && left.timestamp == right.timestamp
    }

    /// Hashes the discount.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(nonce)
        hasher.combine(signature)
    }
}
