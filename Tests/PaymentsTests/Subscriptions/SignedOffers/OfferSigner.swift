import Crypto
import EventTypes
import Foundation
import ServiceKit
import StoreAPI
import TestSupport

@testable import Payments

/// A merchant's server that signs offers for alice's app.
struct OfferSigner: Sendable {
    static let shared = OfferSigner()

    let keyID = "SERVER1"
    let issuerID = "99b16628-15e4-4668-972b-eeff55eeff55"
    let key = P256.Signing.PrivateKey()

    /// The keys that the store knows.
    var keys: OfferKeys {
        OfferKeys { [self] id, bundle in
            guard id == keyID, bundle == alice.bundleID else { return nil }
            return OfferKeys.Key(issuerID: issuerID, publicKey: key.publicKey)
        }
    }

    /// Signs an offer in the first form, as Apple documents it.
    func discount(
        _ offer: String = "come_back",
        of product: String = "club",
        in bundle: String = "com.example.app",
        username: String = "",
        nonce: UUID = UUID(),
        at time: MachineTime = startTime.onMachines,
        by keyID: String? = nil
    ) throws -> PaymentDiscount {
        let keyID = keyID ?? self.keyID
        let nonce = nonce.uuidString.lowercased()
        let fields = [
            bundle, keyID, product, offer, username, nonce, "\(time.millisecondsSinceEpoch)",
        ]
        let signature = try key.signature(for: Data(fields.joined(separator: "\u{2063}").utf8))
        return PaymentDiscount(
            identifier: offer,
            keyIdentifier: keyID,
            nonce: nonce,
            signature: signature.derRepresentation.base64EncodedString(),
            timestamp: time.millisecondsSinceEpoch
        )
    }

    /// Signs an offer in the second form; the changes replace claims.
    func token(
        _ changes: [String: String] = [:],
        at time: MachineTime = startTime.onMachines,
        alg: String = "ES256",
        by keyID: String? = nil
    ) throws -> String {
        var claims = claims(for: "promotional-offer", at: time)
        claims["offerIdentifier"] = "come_back"
        for (name, value) in changes { claims[name] = value }
        return try token(of: claims, alg: alg, by: keyID)
    }

    /// Signs whether a buyer gets the introductory offer; the changes replace claims.
    func eligibility(
        _ isAllowed: Bool = true,
        _ changes: [String: String] = [:],
        at time: MachineTime = startTime.onMachines,
        alg: String = "ES256",
        by keyID: String? = nil
    ) throws -> String {
        var claims = claims(for: "introductory-offer-eligibility", at: time)
        claims["allowIntroductoryOffer"] = isAllowed
        for (name, value) in changes { claims[name] = value }
        return try token(of: claims, alg: alg, by: keyID)
    }

    /// The claims of every JWS.
    private func claims(for audience: String, at time: MachineTime) -> [String: Any] {
        [
            "iss": issuerID, "aud": audience, "bid": "com.example.app",
            "iat": time.millisecondsSinceEpoch / 1000, "nonce": UUID().uuidString,
            "productId": "club",
        ]
    }

    private func token(
        of claims: [String: Any],
        alg: String,
        by keyID: String?
    ) throws -> String {
        let header = ["alg": alg, "kid": keyID ?? self.keyID, "typ": "JWT"]
        let parts = try [header as [String: Any], claims].map {
            String(decoding: encoded(try JSONSerialization.data(withJSONObject: $0)), as: UTF8.self)
        }
        let signed = parts.joined(separator: ".")
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "." + String(decoding: encoded(signature), as: UTF8.self)
    }

    private func encoded(_ data: Data) -> [UInt8] { StrictBase64.encode(Array(data), .url) }
}

/// A payment for the club with a signed offer.
func redeeming(
    _ discount: PaymentDiscount? = nil,
    token: String? = nil,
    _ product: String = "club",
    price: Money = usd(299),
    method: SandboxPaymentMethod = .success,
    username: String? = nil
) -> PaymentRequest {
    var request = request(product, price: price, method: method, username: username)
    request.discount = discount
    request.promotionalOffer = token
    return request
}

/// Three months for 0.99 USD each, for those who come back.
let comeBack = PromotionalOffer(id: OfferID(unchecked: "come_back"), terms: threeMonths)
