import AsyncHTTPClient
import ArgumentParser
import Hummingbird
import Logging

/// A shop in a browser.
///
/// It is a merchant's server as a merchant would write it: it holds the app's key, keeps a session
/// for each buyer, and passes on to the store what the page needs.
@main
struct StorefrontCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storefront",
        abstract: "Sell from a sandbox store in a browser.",
        discussion: """
            `make run` starts a store with this storefront. Beside a store of your own:

              storefront --key keys/private/apps/com.example.app/development.pem \\
                --root keys/receipts/root.cer --pages Examples/Storefront/Pages
            """
    )

    @OptionGroup var options: StorefrontOptions

    func run() async throws {
        var logger = Logger(label: "storefront")
        logger.logLevel = .notice
        let client = StoreCaller.makeClient()
        do {
            let router = try await composeStorefront(options, client: client, logger: logger)
            let application = Application(
                router: router,
                configuration: ApplicationConfiguration(
                    address: .hostname(options.host, port: options.port)
                ),
                logger: logger
            )
            // It ends at SIGTERM and SIGINT, and its streams with it.
            try await application.runService()
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }
}
