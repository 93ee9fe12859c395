import Crypto
import Foundation

/// Signs promotional offers, as a merchant's server does for the buyers it chooses.
///
/// The key is that of the server API: `private/servers/<key id>.p8` of `counterfoil keys server`. The
/// app passes the signature on, as `SKMutablePayment.paymentDiscount`. It is good for one payment within
/// 24 hours, so the server signs again for each purchase.
struct OfferSigner: Sendable {
    /// A signed offer, with the members of StoreKit's `SKPaymentDiscount`.
    struct Discount: Encodable, Hashable, Sendable {
        let identifier: String
        let keyIdentifier: String
        let nonce: UUID
        let signature: String
        let timestamp: Int64
    }

    let bundleID: String
    let keyID: String
    private let key: P256.Signing.PrivateKey

    /// Makes a signer from a private key in PEM.
    init(bundleID: String, keyID: String, privateKeyPEM: String) throws {
        self.bundleID = bundleID
        self.keyID = keyID
        key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM)
    }

    /// Signs an offer for one purchase.
    ///
    /// - Parameters:
    ///   - offer: The id of the offer.
    ///   - product: The product that has the offer.
    ///   - username: The `applicationUsername` of the payment, or its app account token; empty if it has
    ///     none.
    ///   - nonce: The UUID that makes the signature usable once.
    ///   - date: The time of the signature.
    /// - Returns: The discount to send to the app.
    /// - Throws: An error of the key.
    func sign(
        _ offer: String,
        of product: String,
        for username: String = "",
        nonce: UUID = UUID(),
        at date: Date = Date()
    ) throws -> Discount {
        let timestamp = Int64(date.timeIntervalSince1970 * 1000)
        let fields = [
            bundleID, keyID, product, offer, username.lowercased(),
            nonce.uuidString.lowercased(), String(timestamp),
        ]
        // The separator is invisible: U+2063.
        let signature = try key.signature(for: Data(fields.joined(separator: "\u{2063}").utf8))
        return Discount(
            identifier: offer,
            keyIdentifier: keyID,
            nonce: nonce,
            signature: signature.derRepresentation.base64EncodedString(),
            timestamp: timestamp
        )
    }
}
