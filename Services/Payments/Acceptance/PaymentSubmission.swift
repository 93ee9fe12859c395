import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing

/// A payment request that is handed to a batch.
struct PaymentSubmission: Sendable {
    let account: AuthenticatedAccount
    let idempotencyKey: IdempotencyKey
    let request: PaymentRequest
    /// The trace of the HTTP request, which becomes the trace of the purchase.
    let trace: TraceContext
    /// The offer code that a person has typed on the store's page; no request of an app has one.
    var code: SubmittedCode?

    var key: RequestKey {
        RequestKey(accountID: account.accountID, idempotencyKey: idempotencyKey)
    }

    var accountKey: AccountKey {
        AccountKey(accountID: account.accountID, bundleID: account.bundleID)
    }

    /// The purchase intent that the request names, if any.
    var intent: IntentKey? {
        request.purchaseIntentID.map { IntentKey(account: accountKey, id: $0) }
    }

    /// The place of the subscription that the request is about; `nil` if the product is none.
    func subscriptionKey(of product: Product) -> SubscriptionKey? {
        guard product.type == .autoRenewableSubscription, let terms = product.subscription else {
            return nil
        }
        return SubscriptionKey(
            accountID: account.accountID,
            bundleID: account.bundleID,
            groupID: terms.groupID
        )
    }

    /// Whether one of the texts, which would all be stored, has the number of a card in it.
    var hasCardNumber: Bool {
        let texts = [
            idempotencyKey.rawValue, request.productID.rawValue, request.paymentMethod.rawValue,
            request.applicationUsername ?? "",
        ]
        return texts.contains(where: CardNumber.isIn)
    }

    var fingerprint: [UInt8] {
        RequestFingerprint.of(request, redeeming: code?.digest, in: account.bundleID)
    }
}
