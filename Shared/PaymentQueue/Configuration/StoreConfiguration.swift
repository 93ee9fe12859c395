public import Foundation
public import Logging
public import ReceiptValidation

/// The settings with which a program connects to its store, including the account it acts for.
public struct StoreConfiguration: Sendable {
    /// The addresses of the services.
    ///
    /// Behind a proxy such as nginx, one address serves them all.
    public struct Addresses: Hashable, Sendable {
        /// The address of the service for products.
        public var catalog: String
        /// The address of the service for payments, restores and the account.
        public var payments: String
        /// The address of the service for the queue, finishing, hosted content and owned products.
        public var fulfillment: String
        /// The address of the service for the app receipt.
        public var receipts: String

        /// Uses one address for all services.
        ///
        /// - Parameter origin: For example `https://store.example.com`, without a trailing slash.
        public init(origin: String) {
            self.init(catalog: origin, payments: origin, fulfillment: origin, receipts: origin)
        }

        /// Uses a separate address for each service.
        public init(catalog: String, payments: String, fulfillment: String, receipts: String) {
            self.catalog = catalog
            self.payments = payments
            self.fulfillment = fulfillment
            self.receipts = receipts
        }
    }

    /// The addresses of the services.
    public var addresses: Addresses
    /// The buyer's region as an ISO 3166-1 alpha-3 code, such as `USA`.
    ///
    /// If the store knows the account's storefront, the store's value takes precedence.
    public var storefront: String
    /// The language of titles and descriptions as a BCP 47 tag, such as `en-US`.
    public var language: String
    /// Returns the payment processor's token to charge.
    ///
    /// It is called for each payment.
    ///
    /// Throw `SKError(.paymentCancelled)` if the buyer cancels the payment.
    public var paymentMethod: @Sendable (SKPayment) async throws -> String
    /// Returns a token that proves the account's identity.
    ///
    /// It is called once, again before each restore, and again with the old token when the store no
    /// longer accepts that token. A restore needs a token that was issued in the last few minutes,
    /// so ask the buyer to sign in (spec rule 69). If it throws, the restore ends. The library
    /// waits for it no longer than for an answer of the store. After that its task is cancelled,
    /// and the next request calls it again.
    public var accountToken: @Sendable (_ refused: String?) async throws -> String
    /// Shows a price increase to the subscriber.
    ///
    /// Return `true` if they agree, `false` if they decline, and `nil` if they do not answer. A
    /// subscriber who agrees pays the new price from the next renewal on. Without consent the
    /// subscription ends with its period.
    ///
    /// An unanswered price increase is shown again at the next launch (spec rule 106). Without a sheet
    /// the library asks the store for no increases.
    public var priceConsentSheet: (@Sendable (SKPriceIncrease) async -> Bool?)?
    /// Opens the store's page for offer codes (spec rule 111); `nil` if the program has no browser.
    public var codeRedemptionSheet: CodeRedemptionSheet?
    /// Opens the page on which the buyer confirms a payment, as their bank wants with 3-D Secure, and
    /// returns once the page is closed.
    ///
    /// It is called while a payment awaits its buyer (``SKPaymentTransaction/awaitsBuyer``), once for each
    /// page, again after a launch, and when the app asks for it
    /// (``SKPaymentTransaction/openBuyerActionPage()``). It is also called for what a
    /// subscription owes, after ``Product/SubscriptionInfo/Status/changePaymentMethod(to:)``.
    /// If several devices of the account run, each of them opens the page. With `nil` the payment
    /// waits until its time is over, and fails.
    public var buyerActionPage: (@Sendable (URL) async -> Void)?
    /// Certificate authorities to trust in addition to the system's; `nil` for none.
    public var trustedRoots: TrustedRoots?
    /// The file that stores the app receipt (`Bundle.appStoreReceiptURL`); `nil` stores no receipt.
    public var receiptURL: URL?
    /// A function to call before ``SKTerminateForInvalidReceipt()`` ends the program, for example
    /// to inform the buyer.
    ///
    /// It may end the program itself with another status.
    public var invalidReceiptHandler: (@Sendable () -> Void)?
    /// The store, app and environment that app receipts and signed transactions must belong to.
    ///
    /// With `nil` this check is left to a server, and every ``VerificationResult`` is unverified.
    public var receiptTrust: ReceiptTrust?
    /// The identifier of this device (`UIDevice.identifierForVendor`).
    ///
    /// Receipts are bound to it; `nil` binds them to no device.
    public var deviceID: UUID?
    /// The app's build version (`CFBundleVersion`), as it appears in receipts.
    ///
    /// It consists of one to three integers separated by periods. With any other value a restore
    /// has no effect (spec rule 66). `nil` is not checked.
    public var applicationVersion: String?
    /// The folder for downloads of hosted content.
    ///
    /// By default it is a folder in the caches directory.
    public var downloadDirectory =
        (FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        ?? FileManager.default.temporaryDirectory)
        .appendingPathComponent("counterfoil-downloads", isDirectory: true)
    /// The logger of the queue.
    public var logger = Logger(label: "counterfoil.payment-queue")
    /// The time limit for an answer of the store, and for a token from the program.
    public var requestTimeout: Duration = .seconds(15)
    /// The wait before the first retry.
    ///
    /// The wait doubles with each further retry.
    public var retryBase: Duration = .milliseconds(200)
    /// The longest wait between retries.
    public var retryMax: Duration = .seconds(30)
    /// The time for which an unsent payment is retried before it fails with
    /// ``SKError/Code/cloudServiceNetworkConnectionFailed``.
    ///
    /// A payment that may have reached the store is repeated, as the same payment, until there is
    /// an answer. It never fails while it may still be charged.
    public var paymentPatience: Duration = .seconds(120)
    /// The silence after which a stream is considered dead.
    ///
    /// The store sends a heartbeat every 15 s.
    public var streamSilenceMax: Duration = .seconds(45)

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the services.
    ///   - storefront: The buyer's region.
    ///   - language: The language of titles and descriptions.
    ///   - paymentMethod: Returns the payment method to charge.
    ///   - accountToken: Returns a token that proves the account's identity.
    public init(
        addresses: Addresses,
        storefront: String,
        language: String,
        paymentMethod: @escaping @Sendable (SKPayment) async throws -> String,
        accountToken: @escaping @Sendable (_ refused: String?) async throws -> String
    ) {
        self.addresses = addresses
        self.storefront = storefront
        self.language = language
        self.paymentMethod = paymentMethod
        self.accountToken = accountToken
    }
}
