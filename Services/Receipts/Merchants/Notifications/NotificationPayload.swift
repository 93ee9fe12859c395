import EventTypes
import StoreAPI

/// The payload of a notification: the fields of Apple's `responseBodyV2DecodedPayload` (spec
/// section 2.2), made only from its parts.
struct NotificationPayload: Hashable, Sendable {
    /// The subject of a notification.
    enum Content: Hashable, Sendable {
        case data(AppEvent)
        /// The customer's app transaction, signed.
        case appData(signedAppTransaction: String)
        case summary(NotificationRequest.Summary)
        case externalPurchaseToken(id: String, createdAt: StoreTime)
    }

    /// An event in an app.
    struct AppEvent: Hashable, Sendable {
        /// The signed transaction of the event.
        var signedTransaction: String?
        /// The reason why a refund is requested, for `CONSUMPTION_REQUEST`.
        var consumptionRequestReason: String?
        /// The signed renewal info of the subscription, if the event is about one.
        var signedRenewalInfo: String?
        /// The status of that subscription after the event (rule S91 of docs/subscriptions.md).
        var status: Int?
    }

    let id: EventID
    let kind: NotificationKind
    let bundleID: BundleID
    /// The app's number in the store, which Apple's verifier requires in Production.
    let appAppleID: Int64?
    let environment: StoreEnvironment
    let signedAt: StoreTime
    let content: Content

    /// Returns the bytes to sign, as JSON.
    func encoded() -> [UInt8] {
        var text = PlainJSONText(capacity: 8192)
        text.object { text in
            switch content {
            case .appData(let signed):
                text.member("appData") { text in
                    text.member("appAppleId", appAppleID)
                    text.member("bundleId", bundleID.rawValue)
                    text.member("environment", environment.rawValue)
                    text.member("signedAppTransactionInfo", signed)
                }
            case .data(let event): text.member("data") { self.write(event, to: &$0) }
            case .externalPurchaseToken(let id, let createdAt):
                text.member("externalPurchaseToken") { text in
                    text.member("appAppleId", appAppleID)
                    text.member("bundleId", bundleID.rawValue)
                    text.member("externalPurchaseId", id)
                    text.member("tokenCreationDate", createdAt)
                }
            case .summary: break
            }
            text.member("notificationType", kind.type)
            text.member("notificationUUID", id.description)
            text.member("signedDate", signedAt)
            text.member("subtype", kind.subtype)
            if case .summary(let summary) = content {
                text.member("summary") { self.write(summary, to: &$0) }
            }
            text.member("version", "2.0")
        }
        return text.bytes
    }

    private func write(_ event: AppEvent, to text: inout PlainJSONText) {
        text.member("appAppleId", appAppleID)
        text.member("bundleId", bundleID.rawValue)
        text.member("consumptionRequestReason", event.consumptionRequestReason)
        text.member("environment", environment.rawValue)
        text.member("signedRenewalInfo", event.signedRenewalInfo)
        text.member("signedTransactionInfo", event.signedTransaction)
        text.member("status", event.status.map(Int64.init))
    }

    private func write(_ summary: NotificationRequest.Summary, to text: inout PlainJSONText) {
        text.member("appAppleId", appAppleID)
        text.member("bundleId", bundleID.rawValue)
        text.member("environment", environment.rawValue)
        text.member("failedCount", summary.failedCount)
        text.member("productId", summary.productId)
        text.member("requestIdentifier", summary.requestIdentifier)
        text.member(
            "storefrontCountryCodes",
            strings: summary.storefrontCountryCodes.map(\.rawValue)
        )
        text.member("succeededCount", summary.succeededCount)
    }
}
