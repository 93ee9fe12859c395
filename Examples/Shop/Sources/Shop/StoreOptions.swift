import ArgumentParser
import Foundation
import PaymentQueue
import ReceiptValidation

/// The options for the store and the account.
struct StoreOptions: ParsableArguments {
    @Option(help: "The catalog's address.")
    var catalog = "http://127.0.0.1:8081"
    @Option(help: "The address of payments.")
    var payments = "http://127.0.0.1:8082"
    @Option(help: "The address of receipts.")
    var receipts = "http://127.0.0.1:8083"
    @Option(help: "The address of fulfillment.")
    var fulfillment = "http://127.0.0.1:8084"
    @Option(help: "One address for all of them, as behind nginx.")
    var origin: String?
    @Option(help: "The account's token (or SHOP_TOKEN).")
    var token: String?
    @Option(help: "The buyer's storefront.")
    var storefront = "USA"
    @Option(help: "The buyer's language.")
    var language = "en-US"
    @Option(help: "What to charge: a token of the payment processor.")
    var method = "sandbox_success"
    @Option(help: "The store's root certificate (DER), by which receipts are verified.")
    var root: String?
    @Option(help: "The app, as its token names it.")
    var bundle = "com.example.app"
    @Option(help: "Where the app keeps its files.")
    var directory = "shop-data"

    private var folder: URL { URL(fileURLWithPath: directory, isDirectory: true) }

    /// Configures the store of the program.
    func configure() throws {
        guard let token = token ?? ProcessInfo.processInfo.environment["SHOP_TOKEN"] else {
            throw ShopError(
                "Who is buying? Give --token or set SHOP_TOKEN; `shop --help` says how."
            )
        }
        var configuration = StoreConfiguration(
            addresses: origin.map(StoreConfiguration.Addresses.init(origin:))
                ?? .init(
                    catalog: catalog,
                    payments: payments,
                    fulfillment: fulfillment,
                    receipts: receipts
                ),
            storefront: storefront,
            language: language,
            paymentMethod: { [method] _ in method },
            accountToken: { refused in
                // A real app asks its server for a token here. This one has only the token it was
                // given.
                guard refused == nil else {
                    throw ShopError("The store refuses this token, which may have expired.")
                }
                return token
            }
        )
        configuration.downloadDirectory = folder.appendingPathComponent(
            "downloads",
            isDirectory: true
        )
        configuration.receiptURL = folder.appendingPathComponent("receipt")
        if let root {
            // An app ships the certificate with its files instead of downloading it.
            let certificate = try Data(contentsOf: URL(fileURLWithPath: root))
            configuration.receiptTrust = ReceiptTrust(
                roots: [Array(certificate)],
                bundleID: bundle,
                environment: .sandbox
            )
        }
        SKPaymentQueue.configure(configuration)
    }

    /// The app's own record of deliveries.
    func wallet() throws -> Wallet {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try Wallet(url: folder.appendingPathComponent("steps.jsonl"))
    }
}

/// An error message for the user of the terminal.
struct ShopError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
