public import Foundation
public import Logging
public import ReceiptValidation

/// How a program reaches its store, and as whom.
public struct StoreConfiguration: Sendable {
    /// Where the services are; one address for all of them behind a front such as nginx.
    public struct Addresses: Hashable, Sendable {
        /// Products.
        public var catalog: String
        /// Payments, restores and the account.
        public var payments: String
        /// The queue, finishing, hosted content and what the account owns.
        public var fulfillment: String
        /// The app receipt.
        public var receipts: String

        /// Names one address for all services.
        ///
        /// - Parameter origin: For example `https://store.example.com`, without a slash at its end.
        public init(origin: String) {
            self.init(catalog: origin, payments: origin, fulfillment: origin, receipts: origin)
        }

        /// Names the address of each service.
        public init(catalog: String, payments: String, fulfillment: String, receipts: String) {
            self.catalog = catalog
            self.payments = payments
            self.fulfillment = fulfillment
            self.receipts = receipts
        }
    }

    /// Where the services are.
    public var addresses: Addresses
    /// The buyer's region, ISO 3166-1 alpha-3, such as `USA`.
    ///
    /// The store's own word on the account's storefront goes before it.
    public var storefront: String
    /// The language of titles and descriptions, BCP 47, such as `en-US`.
    public var language: String
    /// What to charge: a token of the payment processor, asked for at each payment.
    ///
    /// Throw `SKError(.paymentCancelled)` when the buyer calls the payment off.
    public var paymentMethod: @Sendable (SKPayment) async throws -> String
    /// A token that proves the account.
    ///
    /// Asked for once, again before each restore, and again with the token that the store no longer
    /// takes. A restore needs a token that was issued in the last minutes: ask the buyer who they are
    /// (spec rule 69). A throw ends the restore. Nothing waits for it
    /// longer than for an answer of the store: then its task is cancelled, and the next request asks
    /// again.
    public var accountToken: @Sendable (_ refused: String?) async throws -> String
    /// Shows a price increase to the subscriber: `true` agrees, `false` declines, `nil` says nothing.
    ///
    /// What is not answered is asked again at the next launch (spec rule 106).
    public var priceConsentSheet: (@Sendable (SKPriceIncrease) async -> Bool?)?
    /// The page where offer codes are redeemed, and how to open it (spec rule 111).
    ///
    /// The store itself has no such page yet.
    public var codeRedemptionSheet: (url: URL, open: @Sendable (URL) -> Void)?
    /// Authorities whose certificates are trusted beside those that the system trusts; `nil` for
    /// none.
    public var trustedRoots: TrustedRoots?
    /// Where the app receipt is kept (`Bundle.appStoreReceiptURL`); `nil` keeps none.
    public var receiptURL: URL?
    /// What to do before ``SKTerminateForInvalidReceipt()`` ends the program, such as to tell the
    /// buyer; it may end the program by itself, with another status.
    public var invalidReceiptHandler: (@Sendable () -> Void)?
    /// Which store, app and environment the app receipt and signed transactions have to be of; `nil`
    /// leaves that to a server, and then every ``VerificationResult`` is unverified.
    public var receiptTrust: ReceiptTrust?
    /// This device (`UIDevice.identifierForVendor`), to which receipts are bound; `nil` binds them to
    /// none.
    public var deviceID: UUID?
    /// The app's build version (`CFBundleVersion`), as receipts give it.
    ///
    /// One to three integers with periods between them; with any other a restore has no effect (spec
    /// rule 66). `nil` is not checked.
    public var applicationVersion: String?
    /// Where hosted content is downloaded to; a folder of the caches unless told otherwise.
    public var downloadDirectory =
        (FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        ?? FileManager.default.temporaryDirectory)
        .appendingPathComponent("counterfoil-downloads", isDirectory: true)
    /// Where the queue logs.
    public var logger = Logger(label: "counterfoil.payment-queue")
    /// How long to wait for an answer of the store, and for a token of the program.
    public var requestTimeout: Duration = .seconds(15)
    /// How long the first repetition waits; each further one twice as long.
    public var retryBase: Duration = .milliseconds(200)
    /// The longest wait between repetitions.
    public var retryMax: Duration = .seconds(30)
    /// How long a payment that cannot be sent is tried again before it fails with
    /// ``SKError/Code/cloudServiceNetworkConnectionFailed``.
    ///
    /// One that the store may have heard is repeated, as the same payment, until there is an answer:
    /// it never fails while it may be charged.
    public var paymentPatience: Duration = .seconds(120)
    /// After how much silence a stream is taken for dead.
    ///
    /// The store sends a heartbeat every 15 s.
    public var streamSilenceMax: Duration = .seconds(45)

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - addresses: Where the services are.
    ///   - storefront: The buyer's region.
    ///   - language: The language of titles and descriptions.
    ///   - paymentMethod: What to charge.
    ///   - accountToken: Proves the account.
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
