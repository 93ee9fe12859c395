import EventTypes

/// The payload of an app transaction: the fields of Apple's `AppTransaction` (spec section 2.3)
/// that apply to a store without devices.
///
/// The device's fields are omitted: the request comes from a server, to which no device has proved
/// itself.
struct AppTransactionPayload: Hashable, Sendable {
    var receiptType: StoreEnvironment
    var appAppleId: Int64?
    var bundleId: BundleID
    var applicationVersion: String
    var receiptCreationDate: StoreTime
    var originalPurchaseDate: StoreTime
    var originalApplicationVersion: String
    var appTransactionId: String
    var originalPlatform = "iOS"

    /// Creates the payload for an account's app transaction.
    ///
    /// - Parameters:
    ///   - found: Its number, and the time at which the account was first seen in the app.
    ///   - bundleID: The app.
    ///   - appAppleID: The app's number, if the app is registered.
    ///   - version: The registered version, or 1.0 if none is registered.
    ///   - environment: The store's environment.
    ///   - now: The time of the signature.
    init(
        _ found: (id: Int64, firstSeenAt: StoreTime),
        of bundleID: BundleID,
        appAppleID: Int64?,
        version: String?,
        in environment: StoreEnvironment,
        at now: StoreTime
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

    /// Returns the bytes to sign: JSON with sorted keys.
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
