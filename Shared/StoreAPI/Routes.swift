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
    /// `receipts`: every receipt of the account in the app, as one document.
    ///
    /// `GET`.
    public static let appReceipt = "/v1/receipts/app"
    /// `receipts`: the certificate that every receipt's chain ends in, in DER.
    ///
    /// `GET`.
    public static let rootCertificate = "/v1/receipts/root-certificate"
    /// `payments`, administrators: one transaction.
    ///
    /// Append its id and what to do.
    public static let adminTransactions = "/v1/admin/transactions"

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
    /// `catalog`, administrators: one product.
    public static func adminProduct(_ id: ProductID) -> String { "\(adminProducts)/\(id)" }
}
