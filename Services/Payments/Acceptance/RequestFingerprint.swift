import Crypto
import EventTypes
import StoreAPI

/// A fingerprint that distinguishes different requests under one key.
///
/// It is the first half of a SHA-256 over the fields of the request, not over its bytes, so a client
/// may repeat the request with other white space.
enum RequestFingerprint {
    static func of(
        _ request: PaymentRequest,
        redeeming code: CodeDigest? = nil,
        in bundle: BundleID
    ) -> [UInt8] {
        let fields: [String?] = [
            "payment", bundle.rawValue, request.productID.rawValue, String(request.quantity),
            request.storefront.rawValue, String(request.price.minorUnits),
            request.price.currency.rawValue, request.paymentMethod.rawValue,
            request.applicationUsername,
        ]
        // An intent and offers are added only if there are any, so fingerprints from before there were
        // any stay valid.
        let intent = request.purchaseIntentID.map { [$0.rawValue] } ?? []
        let shown = request.offer.map(Self.fields) ?? []
        let discount = request.discount.map(Self.fields) ?? []
        var signed = request.promotionalOffer.map { ["promotionalOffer", $0] } ?? []
        if let token = request.introductoryOfferEligibility {
            signed += ["introductoryOfferEligibility", token]
        }
        let redeemed = code.map { ["code", $0.text] } ?? []
        return of(fields + intent + shown + discount + signed + redeemed)
    }

    static func of(_ request: RestoreRequest, in bundle: BundleID) -> [UInt8] {
        let fields = ["restore", bundle.rawValue, request.applicationUsername]
        // Product ids, too, are added only if there are any.
        guard let productIDs = request.productIDs else { return of(fields) }
        let names: [String?] = Set(productIDs.map(\.rawValue)).sorted()
        return of(fields + ["products"] + names)
    }

    static func of(_ request: RefundRequest) -> [UInt8] {
        let fields: [String?] = [
            "refund", request.amount.map { String($0.minorUnits) },
            request.amount?.currency.rawValue, request.revokes.map(String.init),
        ]
        // The reason, too, is added only if there is one.
        guard let reason = request.reason else { return of(fields) }
        return of(fields + [reason.rawValue])
    }

    private static func fields(of offer: ShownOffer) -> [String?] {
        [
            "offer", offer.type.rawValue, offer.id?.rawValue, offer.terms?.mode.rawValue,
            offer.terms?.period.description, offer.terms.map { String($0.numberOfPeriods) },
            offer.terms.map { String($0.price.minorUnits) }, offer.terms?.price.currency.rawValue,
        ]
    }

    private static func fields(of discount: PaymentDiscount) -> [String?] {
        [
            "discount", discount.identifier, discount.keyIdentifier, discount.nonce,
            discount.signature, discount.timestamp.map { String($0) },
        ]
    }

    /// Hashes each field with its length, so that no two lists of fields give the same bytes.
    private static func of(_ fields: [String?]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            guard let field else {
                bytes.append(UInt8(ascii: "-"))
                continue
            }
            bytes.append(contentsOf: "\(field.utf8.count):".utf8)
            bytes.append(contentsOf: field.utf8)
        }
        return Array(SHA256.hash(data: bytes).prefix(16))
    }
}
