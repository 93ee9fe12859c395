public import EventTypes

/// The paths of the store's HTTP interface.
///
/// The services and their clients share them so that they cannot diverge.
///
/// In patterns, `{id}` or `:id` is a parameter that the server reads.
public enum Routes {
    /// `catalog`: the products that can be bought.
    ///
    /// `GET ?ids=a,b&storefront=USA&language=en-US`.
    public static let products = "/v1/products"
    /// `catalog`, administrators: one product.
    ///
    /// Append its id. `GET`, `PUT`, `DELETE` (ends the sale).
    public static let adminProducts = "/v1/admin/products"
    /// `catalog`, administrators: the whole catalog as one document.
    ///
    /// `GET` exports, `PUT` imports.
    public static let adminCatalog = "/v1/admin/catalog"
    /// `payments`: add a payment.
    ///
    /// `POST` with an `Idempotency-Key`.
    public static let payments = "/v1/payments"
    /// `payments`: restore the account's purchases.
    ///
    /// `POST`.
    public static let restores = "/v1/restores"
    /// `fulfillment`: the account's queue, as server-sent events.
    ///
    /// `GET`.
    public static let queue = "/v1/queue"
    /// `fulfillment`: the unfinished transactions, as one JSON document.
    ///
    /// `GET`.
    public static let queueTransactions = "/v1/queue/transactions"
    /// `fulfillment`: all transactions of the account, including finished ones, in pages.
    ///
    /// `GET ?after=`, with the last revision of the previous page.
    public static let history = "/v1/history"
    /// `fulfillment`: the transactions that gave the account the products it owns.
    ///
    /// `GET`.
    public static let entitlementTransactions = "/v1/entitlements/transactions"
    /// `fulfillment`: the content that is currently hosted for products.
    ///
    /// `GET ?ids=a,b`.
    public static let contents = "/v1/contents"
    /// `fulfillment`: the products that the account owns.
    ///
    /// `GET`.
    public static let entitlements = "/v1/entitlements"
    /// `fulfillment`: the account's balances of consumable units.
    ///
    /// `GET`.
    public static let credits = "/v1/credits"
    /// `payments`: one transaction.
    ///
    /// Append its id. `GET`.
    public static let transactions = "/v1/transactions"
    /// `receipts`: the app receipt of the account, PKCS#7 in DER.
    ///
    /// `GET`, with the parameters of ``AppReceiptQuery``.
    public static let appReceipt = "/v1/receipts/app"
    /// `receipts`: the statuses of the account's subscriptions, signed.
    ///
    /// `GET`.
    public static let subscriptionStatuses = "/v1/receipts/subscriptions"
    /// `receipts`: lets a server verify an app receipt and read its purchases.
    ///
    /// `POST`, without a token. Requests and responses have Apple's format.
    public static let verifyReceipt = "/verifyReceipt"
    /// `receipts`: the root certificate of every receipt's certificate chain, in DER.
    ///
    /// `GET`.
    public static let rootCertificate = "/v1/receipts/root-certificate"
    /// `payments`, administrators: one transaction.
    ///
    /// Append its id and the action.
    public static let adminTransactions = "/v1/admin/transactions"

    /// `fulfillment`, administrators: the transactions that apps have not finished, in pages.
    ///
    /// `GET ?olderThanHours=24&after=`, with the `next` of the previous page.
    public static let adminUnfinished = "/v1/admin/queue/unfinished"
    /// `fulfillment`, administrators: the transactions that wait for an approval, in pages.
    ///
    /// `GET ?after=`, with the `next` of the previous page.
    public static let adminDeferred = "/v1/admin/queue/deferred"
    /// `receipts`, administrators: one app, by its bundle identifier.
    ///
    /// Append the identifier and the action.
    public static let adminApps = "/v1/admin/apps"

    /// `receipts`, administrators: the endpoint that receives the app's notifications.
    ///
    /// `GET`, `PUT`, `DELETE`.
    public static func adminNotificationEndpoint(_ bundle: BundleID) -> String {
        "\(adminApps)/\(bundle)/notification-endpoint"
    }
    /// `receipts`, administrators: a merchant's report on a purchase, and whether it came in time.
    ///
    /// `GET`.
    public static func consumptionReport(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/consumption-report"
    }
    /// `payments`: the settings of the account.
    ///
    /// `GET`.
    public static let account = "/v1/account"
    /// `payments`: the purchases that the account began outside the app.
    ///
    /// Append an id. `DELETE` declines it permanently.
    public static let purchaseIntents = "\(account)/purchase-intents"
    /// `payments`: the subscriptions of the account.
    ///
    /// `GET`; append an id for one.
    public static let subscriptions = "/v1/subscriptions"
    /// `payments`: whether the account may have the introductory offer of a group.
    ///
    /// `GET`. Append the group.
    public static let introductoryOffers = "/v1/introductory-offers"
    /// `payments`, administrators: all subscriptions, in pages.
    ///
    /// `GET ?state=expired&after=`, with the `next` of the previous page; append an id for one.
    public static let adminSubscriptions = "/v1/admin/subscriptions"
    /// `payments`, administrators: one account in one app.
    ///
    /// Append its id, percent-encoded. `GET ?bundleID=com.example.app`, `PUT`.
    public static let adminAccounts = "/v1/admin/accounts"

    /// `payments`: the tickets for the page on which accounts redeem codes.
    ///
    /// `POST`.
    public static let redemptionTickets = "/v1/redemption-tickets"
    /// `payments`: the page on which accounts redeem codes, for browsers.
    ///
    /// `GET ?ticket=`, `POST` with a form.
    public static let redemptionPage = "/redeem"
    /// `payments`, administrators: campaigns of offer codes.
    ///
    /// `GET ?before=`, with the `next` of the previous page; `POST` makes one. Append a number for one.
    public static let adminCodeCampaigns = "/v1/admin/code-campaigns"

    /// `payments`, administrators: one campaign of offer codes.
    ///
    /// `GET`.
    public static func adminCodeCampaign(_ id: Int64) -> String { "\(adminCodeCampaigns)/\(id)" }
    /// `payments`, administrators: end the codes of a campaign.
    ///
    /// `POST`.
    public static func codeDeactivation(_ id: Int64) -> String {
        "\(adminCodeCampaign(id))/deactivation"
    }
    /// `payments`, administrators: the store's clock; only a sandbox has it.
    ///
    /// `GET`.
    public static let adminClock = "/v1/admin/clock"
    /// `payments`, administrators: advance the store's clock, by a span or to a time.
    ///
    /// `POST` with an `Idempotency-Key`.
    public static let adminClockAdvance = "\(adminClock)/advance"
    /// `payments`, administrators: freeze the store's clock.
    ///
    /// `POST`.
    public static let adminClockFreeze = "\(adminClock)/freeze"
    /// `payments`, administrators: let the store's clock run at a rate.
    ///
    /// `POST`.
    public static let adminClockRun = "\(adminClock)/run"
    /// `payments`, administrators: resume an advance of the store's clock that failed.
    ///
    /// `POST`.
    public static let adminClockResume = "\(adminClock)/resume"

    /// `payments`: the page on which the buyer of a transaction has to act.
    public static func action(of id: TransactionID) -> String { "\(transactions)/\(id)/action" }
    /// `payments`: the payment methods that the account has saved.
    ///
    /// `GET`. Append one to remove it (`DELETE`).
    public static let paymentMethods = "/v1/payment-methods"
    /// `payments`: begin to save a payment method.
    ///
    /// `POST`. Append the setup's id to complete it.
    public static let paymentMethodSetups = "\(paymentMethods)/setups"
    /// `payments`: what Stripe tells by itself, with its signature instead of a token.
    ///
    /// `POST`.
    public static let stripeEvents = "/v1/processors/stripe/events"
    /// `payments`: what an account at Stripe tells by itself, of a store that has several.
    ///
    /// `POST`. The name is the one in the settings of `payments`.
    public static func stripeAccountEvents(_ name: String) -> String { "\(stripeEvents)/\(name)" }
    /// `payments`: the pages of a sandbox on which buyers act.
    public static let sandboxActions = "/v1/sandbox/actions"
    /// `payments`: the buyer's decision on such a page; only a sandbox has it.
    ///
    /// `POST`. The id is part of the page's address, which only the buyer knows.
    public static func sandboxAction(_ id: String) -> String { "\(sandboxActions)/\(id)" }

    /// `payments`: one purchase that the account began outside the app.
    public static func purchaseIntent(_ id: PurchaseIntentID) -> String {
        "\(purchaseIntents)/\(id)"
    }
    /// `payments`, administrators: one account in one app.
    public static func adminAccount(_ id: AccountID) -> String {
        "\(adminAccounts)/\(percentEncoded(id.rawValue))"
    }
    /// `payments`, administrators: begin a purchase for an account, as a promotion does.
    ///
    /// `POST`. With an `Idempotency-Key` it is begun only once, even if the request is repeated.
    public static func adminPurchaseIntents(_ id: AccountID) -> String {
        "\(adminAccount(id))/purchase-intents"
    }
    /// `payments`: one subscription, which has the id of its first transaction.
    public static func subscription(_ id: TransactionID) -> String { "\(subscriptions)/\(id)" }
    /// `payments`: the subscriber's answer to the question about a higher price.
    ///
    /// `PUT`.
    public static func priceIncrease(_ id: TransactionID) -> String {
        "\(subscription(id))/price-increase"
    }
    /// `payments`: whether a subscription renews at the end of its period.
    ///
    /// `PUT`.
    public static func autoRenew(_ id: TransactionID) -> String {
        "\(subscription(id))/auto-renew"
    }
    /// `payments`: the product of a subscription's next period.
    ///
    /// `PUT`.
    public static func subscriptionProduct(_ id: TransactionID) -> String {
        "\(subscription(id))/product"
    }
    /// `payments`: the payment method of a subscription.
    ///
    /// `PUT`.
    public static func subscriptionMethod(_ id: TransactionID) -> String {
        "\(subscription(id))/payment-method"
    }
    /// `payments`: the page on which the buyer of a subscription has to act, to pay what is owed.
    ///
    /// `GET`.
    public static func action(ofSubscription id: TransactionID) -> String {
        "\(subscription(id))/action"
    }
    /// `payments`, administrators: one subscription.
    public static func adminSubscription(_ id: TransactionID) -> String {
        "\(adminSubscriptions)/\(id)"
    }
    /// `payments`, administrators: whether a subscription renews at the end of its period.
    ///
    /// `PUT`.
    public static func adminAutoRenew(_ id: TransactionID) -> String {
        "\(adminSubscription(id))/auto-renew"
    }
    /// `payments`, administrators: a higher price for one subscription.
    ///
    /// `PUT`, `DELETE`.
    public static func adminPriceIncrease(_ id: TransactionID) -> String {
        "\(adminSubscription(id))/price-increase"
    }
    /// `payments`, administrators: the product of a subscription's next period.
    ///
    /// `PUT`.
    public static func adminSubscriptionProduct(_ id: TransactionID) -> String {
        "\(adminSubscription(id))/product"
    }
    /// `payments`, administrators: extend the newest period of a subscription (`POST`).
    public static func adminExtensions(_ id: TransactionID) -> String {
        "\(adminSubscription(id))/extensions"
    }
    /// `payments`, administrators: extend all subscribers of a product (`POST`).
    public static let adminMassExtensions = "/v1/admin/mass-extensions"
    /// `payments`: one transaction as `payments` has recorded it.
    public static func transaction(_ id: TransactionID) -> String { "\(transactions)/\(id)" }
    /// `receipts`: the signed transaction.
    public static func receipt(_ id: TransactionID) -> String { "\(transactions)/\(id)/receipt" }
    /// `fulfillment`: finish the transaction.
    ///
    /// `POST`.
    public static func finish(_ id: TransactionID) -> String { "\(transactions)/\(id)/finish" }
    /// `fulfillment`: the hosted content of the transaction, complete or a range of it.
    ///
    /// `GET`, `HEAD`.
    public static func content(_ identifier: ProductID, of id: TransactionID) -> String {
        "\(transactions)/\(id)/content/\(identifier)"
    }
    /// `fulfillment`, administrators: the hosted content of a product.
    ///
    /// `GET` lists, `PUT ?version=1.0` adds a version.
    public static func adminContent(_ id: ProductID) -> String {
        "\(adminProducts)/\(id)/content"
    }
    /// `fulfillment`, administrators: one version of a product's hosted content.
    ///
    /// `DELETE` withdraws it from new purchases.
    public static func adminContent(_ id: ProductID, _ version: ContentVersion) -> String {
        "\(adminContent(id))/\(version)"
    }
    /// `payments`, administrators: approve or decline a deferred transaction.
    ///
    /// `POST`.
    public static func approval(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/approval"
    }
    /// `payments`, administrators: refund a purchased transaction, in full or in part.
    ///
    /// `POST`.
    public static func refund(_ id: TransactionID) -> String { "\(adminTransactions)/\(id)/refund" }
    /// `payments`: the buyer's requests for a refund of one transaction.
    ///
    /// `GET`; `POST` with an `Idempotency-Key` asks.
    public static func refundRequests(of id: TransactionID) -> String {
        "\(transaction(id))/refund-requests"
    }
    /// `payments`, administrators: all requests of buyers for refunds, in pages.
    ///
    /// `GET ?state=open&transactionID=&after=`, with the `next` of the previous page.
    public static let adminRefundRequests = "/v1/admin/refund-requests"
    /// `payments`, administrators: one request for a refund.
    ///
    /// `GET`.
    public static func adminRefundRequest(_ id: TransactionID, _ number: Int) -> String {
        "\(adminRefundRequests)/\(id)/\(number)"
    }
    /// `payments`, administrators: approve or decline a request for a refund.
    ///
    /// `POST`.
    public static func refundDecision(_ id: TransactionID, _ number: Int) -> String {
        "\(adminRefundRequest(id, number))/decision"
    }
    /// `payments`, administrators: reverse a refund, so that the store has the money again.
    ///
    /// `POST`.
    public static func refundReversal(_ id: TransactionID, _ number: Int) -> String {
        "\(adminTransactions)/\(id)/refunds/\(number)/reversal"
    }
    /// `fulfillment`, administrators: send a transaction's webhooks again.
    ///
    /// `POST`.
    public static func webhooks(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/webhooks"
    }
    /// `payments`, administrators: resume an interrupted payment as a new transaction.
    ///
    /// `POST`.
    public static func resumption(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/resumption"
    }
    /// `catalog`, administrators: one product.
    public static func adminProduct(_ id: ProductID) -> String { "\(adminProducts)/\(id)" }

    /// Percent-encodes an account id, which may contain characters that would end a path segment.
    static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { encoded, byte in
            let character = Character(UnicodeScalar(byte))
            if character.isLetter || character.isNumber || "-._~@".contains(character) {
                encoded.append(character)
            } else {
                encoded += ["%", digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
    }
}
