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
