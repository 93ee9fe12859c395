import Crypto
import EventTypes
import Foundation
import OperatorCore
import PaymentQueue

/// The key of a merchant's server, which signs promotional offers.
struct OfferKey: Sendable {
    private let bundleID: BundleID
    private let keyID: String
    private let key: P256.Signing.PrivateKey

    /// Finds the first key that speaks for an app; `nil` if there is none.
    static func find(
        for bundleID: BundleID,
        in keys: KeyDirectory
    ) throws(OperatorError) -> OfferKey? {
        for name in keys.names(in: keys.serverKeys) where name.hasSuffix(".json") {
            let keyID = String(name.dropLast(".json".count))
            guard let contents = try keys.read(keys.serverKeys.appending(path: name)),
                let pem = try keys.read(keys.serverPrivateKey(keyID: keyID)),
                // A file that is not a server key speaks for no app; the services report it.
                let registered = try? JSONDecoder().decode(
                    KeyCreation.ServerKey.self,
                    from: contents
                ),
                registered.bundleIDs.contains(bundleID.rawValue),
                // What cannot be read as a key signs nothing.
                let key = try? P256.Signing.PrivateKey(
                    pemRepresentation: String(decoding: pem, as: UTF8.self)
                )
            else { continue }
            return OfferKey(bundleID: bundleID, keyID: keyID, key: key)
        }
        return nil
    }

    /// Signs an offer for one payment without an application username.
    func discount(
        _ offer: String,
        of product: ProductID,
        at date: Date
    ) throws -> SKPaymentDiscount {
        let (nonce, timestamp) = (UUID(), Int64(date.timeIntervalSince1970 * 1000))
        let fields = [
            bundleID.rawValue, keyID, product.rawValue, offer, "", nonce.uuidString.lowercased(),
            "\(timestamp)",
        ]
        // The separator is invisible: U+2063.
        let signature = try key.signature(for: Data(fields.joined(separator: "\u{2063}").utf8))
        return SKPaymentDiscount(
            identifier: offer,
            keyIdentifier: keyID,
            nonce: nonce,
            signature: signature.derRepresentation.base64EncodedString(),
            timestamp: timestamp
        )
    }
}
