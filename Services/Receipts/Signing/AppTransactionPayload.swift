import EventTypes

/// What the store says of an app and a customer: the fields of Apple's `AppTransaction` (spec section
/// 2.3) that a store without devices has.
///
/// The device's fields are left out: what asks is a server, and no device proves itself to it.
struct AppTransactionPayload: Hashable, Sendable {
    var receiptType: StoreEnvironment
    var appAppleId: Int64?
    var bundleId: BundleID
    var applicationVersion: String
    var receiptCreationDate: Timestamp
    var originalPurchaseDate: Timestamp
    var originalApplicationVersion: String
    var appTransactionId: String
    var originalPlatform = "iOS"

    /// Says of an account's app transaction what there is to say.
    ///
    /// - Parameters:
    ///   - found: Its number, and when the account was first seen in the app.
    ///   - bundleID: The app.
    ///   - appAppleID: The app's number, if the app is registered.
    ///   - version: The version that is registered; 1.0 if none is.
    ///   - environment: The store's.
    ///   - now: The time of the signature.
    init(
        _ found: (id: Int64, firstSeenAt: Timestamp),
        of bundleID: BundleID,
        appAppleID: Int64?,
        version: String?,
        in environment: StoreEnvironment,
        at now: Timestamp
    ) {
        receiptType = environment
        appAppleId = appAppleID
        bundleId = bundleID
        applicationVersion = version ?? "1.0"
        receiptCreationDate = max(now, found.firstSeenAt)
        originalPurchaseDate = found.firstSeenAt
        originalApplicationVersion = applicationVersion
        appTransactionId = String(found.id)
    }

    /// The bytes that are signed: JSON with sorted keys.
    func encoded() -> [UInt8] {
        var text = PlainJSONText(capacity: 512)
        text.object { text in
            text.member("appAppleId", appAppleId)
            text.member("appTransactionId", appTransactionId)
            text.member("applicationVersion", applicationVersion)
            text.member("bundleId", bundleId.rawValue)
            text.member("originalApplicationVersion", originalApplicationVersion)
            text.member("originalPlatform", originalPlatform)
            text.member("originalPurchaseDate", originalPurchaseDate)
            text.member("receiptCreationDate", receiptCreationDate)
            text.member("receiptType", receiptType.rawValue)
        }
        return text.bytes
    }
}
