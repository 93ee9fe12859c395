import Crypto
import EventTypes
import StoreAPI

/// What tells two requests under one key apart: SHA-256 over their meaning, not their spelling, so
/// a client may send the same document with other white space.
enum RequestFingerprint {
    static func of(_ request: PaymentRequest, in bundle: BundleID) -> [UInt8] {
        let fields: [String?] = [
            "payment", bundle.rawValue, request.productID.rawValue, String(request.quantity),
            request.storefront.rawValue, String(request.price.minorUnits),
            request.price.currency.rawValue, request.paymentMethod, request.applicationUsername,
        ]
        // Only where there is one, so that keys that were used before intents were known stay what
        // they are.
        guard let intent = request.purchaseIntentID else { return of(fields) }
        return of(fields + [intent.rawValue])
    }

    static func of(_ request: RestoreRequest, in bundle: BundleID) -> [UInt8] {
        let fields = ["restore", bundle.rawValue, request.applicationUsername]
        // As above.
        guard let productIDs = request.productIDs else { return of(fields) }
        let names: [String?] = Set(productIDs.map(\.rawValue)).sorted()
        return of(fields + ["products"] + names)
    }

    /// Each field goes in with its length, so that no two lists of fields are the same bytes.
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
        return [UInt8](SHA256.hash(data: bytes))
    }
}
