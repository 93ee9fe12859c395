public import EventTypes
import Foundation
public import StoreAPI

extension StoreKeys {
    /// Signs a promotional offer for one payment, as a merchant's server does.
    ///
    /// - Parameters:
    ///   - offer: The offer.
    ///   - product: The product that has it.
    /// - Returns: The discount, for a payment without an application username.
    /// - Throws: An error if the key cannot be read.
    public func discount(_ offer: OfferID, of product: ProductID) throws -> PaymentDiscount {
        let nonce = UUID().uuidString.lowercased()
        let timestamp = Int64(Date().timeIntervalSince1970 * 1000)
        let fields = [
            Self.bundleID.rawValue, serverKeyID, product.rawValue, offer.rawValue, "", nonce,
            "\(timestamp)",
        ]
        return PaymentDiscount(
            identifier: offer.rawValue,
            keyIdentifier: serverKeyID,
            nonce: nonce,
            // The separator is invisible: U+2063.
            signature: try serverSignature(of: fields.joined(separator: "\u{2063}")),
            timestamp: timestamp
        )
    }
}
