public import EventTypes

/// The paths of the store's HTTP interface, shared by the services and their clients, so that the
/// two cannot drift apart.
///
/// Patterns hold `{id}` or `:id` where the server reads a parameter.
public enum Routes {
    /// `catalog`: what can be bought.
    ///
    /// `GET ?ids=a,b&storefront=USA&language=en-US`.
    public static let products = "/v1/products"
    /// `catalog`, administrators: one product.
    ///
    /// Append its id. `GET`, `PUT`, `DELETE` (off sale).
    public static let adminProducts = "/v1/admin/products"
    /// `catalog`, administrators: the whole catalog as one document.
    ///
    /// `GET` exports, `PUT` imports.
    public static let adminCatalog = "/v1/admin/catalog"
    /// `payments`: add a payment.
    ///
    /// `POST` with an `Idempotency-Key`.
    public static let payments = "/v1/payments"
    /// `payments`: restore what the account owns.
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
    /// `fulfillment`: every transaction of the account, finished ones too, in pages.
    ///
    /// `GET ?after=`, the revision that the page before ended with.
    public static let history = "/v1/history"
    /// `fulfillment`: the transactions that gave the account what it owns.
    ///
    /// `GET`.
    public static let entitlementTransactions = "/v1/entitlements/transactions"
    /// `fulfillment`: what is hosted for products, as a purchase would get it at present.
    ///
    /// `GET ?ids=a,b`.
    public static let contents = "/v1/contents"
    /// `fulfillment`: what the account owns.
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
    /// `receipts`: tells a server whether an app receipt is the store's, and what is bought.
    ///
    /// `POST`, without a token; requests and answers are Apple's.
    public static let verifyReceipt = "/verifyReceipt"
    /// `receipts`: the certificate that every receipt's chain ends in, in DER.
    ///
    /// `GET`.
    public static let rootCertificate = "/v1/receipts/root-certificate"
    /// `payments`, administrators: one transaction.
    ///
    /// Append its id and what to do.
    public static let adminTransactions = "/v1/admin/transactions"

    /// `fulfillment`, administrators: what apps have yet to finish, in pages.
    ///
    /// `GET ?olderThanHours=24&after=`, the `next` of the page before.
    public static let adminUnfinished = "/v1/admin/queue/unfinished"
    /// `receipts`, administrators: one app, by its bundle identifier.
    ///
    /// Append it and what to do.
    public static let adminApps = "/v1/admin/apps"

    /// `receipts`, administrators: where the app's server is told what happens.
    ///
    /// `GET`, `PUT`, `DELETE`.
    public static func adminNotificationEndpoint(_ bundle: BundleID) -> String {
        "\(adminApps)/\(bundle)/notification-endpoint"
    }
    /// `receipts`, administrators: have a notification of any type sent.
    ///
    /// `POST`.
    public static func adminNotifications(_ bundle: BundleID) -> String {
        "\(adminApps)/\(bundle)/notifications"
    }
    /// `payments`: what the store knows of the account.
    ///
    /// `GET`.
    public static let account = "/v1/account"
    /// `payments`: the purchases that the account began outside the app.
    ///
    /// Append an id. `DELETE` declines it for good.
    public static let purchaseIntents = "\(account)/purchase-intents"
    /// `payments`: the price increases that the account was asked about.
    ///
    /// Append an id. `POST` answers it.
    public static let priceConsents = "\(account)/price-consents"
    /// `payments`, administrators: one account in one app.
    ///
    /// Append its id, percent-encoded. `GET ?bundleID=com.example.app`, `PUT`.
    public static let adminAccounts = "/v1/admin/accounts"

    /// `payments`: one purchase that the account began outside the app.
    public static func purchaseIntent(_ id: PurchaseIntentID) -> String {
        "\(purchaseIntents)/\(id)"
    }
    /// `payments`: one price increase that the account was asked about.
    public static func priceConsent(_ id: PriceConsentID) -> String { "\(priceConsents)/\(id)" }
    /// `payments`, administrators: one account in one app.
    public static func adminAccount(_ id: AccountID) -> String {
        "\(adminAccounts)/\(percentEncoded(id.rawValue))"
    }
    /// `payments`, administrators: begin a purchase for an account, as a promotion does.
    ///
    /// `POST`; with an `Idempotency-Key` it is begun once, however often it is asked.
    public static func adminPurchaseIntents(_ id: AccountID) -> String {
        "\(adminAccount(id))/purchase-intents"
    }
    /// `payments`, administrators: ask an account to agree to a higher price.
    ///
    /// `PUT`.
    public static func adminPriceConsent(_ id: AccountID, _ product: ProductID) -> String {
        "\(adminAccount(id))/price-consents/\(product)"
    }
    /// `payments`: one transaction as the ledger has it.
    public static func transaction(_ id: TransactionID) -> String { "\(transactions)/\(id)" }
    /// `receipts`: the signed transaction.
    public static func receipt(_ id: TransactionID) -> String { "\(transactions)/\(id)/receipt" }
    /// `receipts`, administrators: the signed transaction of any account.
    public static func adminReceipt(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/receipt"
    }
    /// `fulfillment`: finish the transaction.
    ///
    /// `POST`.
    public static func finish(_ id: TransactionID) -> String { "\(transactions)/\(id)/finish" }
    /// `fulfillment`: what is hosted for the transaction, whole or a range of it.
    ///
    /// `GET`, `HEAD`.
    public static func content(_ identifier: ProductID, of id: TransactionID) -> String {
        "\(transactions)/\(id)/content/\(identifier)"
    }
    /// `fulfillment`, administrators: what is hosted for a product.
    ///
    /// `GET` lists, `PUT ?version=1.0` adds a version.
    public static func adminContent(_ id: ProductID) -> String {
        "\(adminProducts)/\(id)/content"
    }
    /// `fulfillment`, administrators: one version of what is hosted for a product.
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
    /// `payments`, administrators: refund a purchased transaction in full.
    ///
    /// `POST`.
    public static func refund(_ id: TransactionID) -> String { "\(adminTransactions)/\(id)/refund" }
    /// `fulfillment`, administrators: send a transaction's webhooks again.
    ///
    /// `POST`.
    public static func webhooks(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/webhooks"
    }
    /// `payments`, administrators: take up an interrupted payment as one new transaction.
    ///
    /// `POST`.
    public static func resumption(_ id: TransactionID) -> String {
        "\(adminTransactions)/\(id)/resumption"
    }
    /// `catalog`, administrators: one product.
    public static func adminProduct(_ id: ProductID) -> String { "\(adminProducts)/\(id)" }

    /// An account's id may hold characters that would end a part of a path.
    private static func percentEncoded(_ text: String) -> String {
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
