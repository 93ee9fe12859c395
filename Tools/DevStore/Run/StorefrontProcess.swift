import EventTypes
import StoreHarness

/// The storefront beside the store of `devstore run`.
enum StorefrontProcess {
    /// The port, after those of the services.
    static let port = 8085

    /// Starts the storefront and waits until it answers.
    ///
    /// - Parameter store: The store, whose keys it gets: that of the app, and the administrator's for
    ///   the sandbox's controls.
    /// - Returns: The running storefront.
    /// - Throws: ``HarnessError`` if it does not start.
    static func start(beside store: StoreHarness) async throws -> CompanionProcess {
        let privateKeys = store.keys.directory + "/private"
        return try await CompanionProcess.start(
            "storefront",
            [
                "--key", "\(privateKeys)/apps/\(StoreKeys.bundleID)/\(StoreKeys.keyID).pem",
                "--administrator-key",
                "\(privateKeys)/administrators/\(StoreKeys.administrator).pem",
                "--root", store.keys.rootCertificate,
                "--bundle", StoreKeys.bundleID.rawValue,
                "--pages", SourceTree.path("Examples/Storefront/Pages"),
                "--catalog", store.urls.catalog, "--payments", store.urls.payments,
                "--receipts", store.urls.receipts, "--fulfillment", store.urls.fulfillment,
                "--port", "\(port)",
            ],
            at: "http://127.0.0.1:\(port)/",
            logsIn: store.directory + "/logs"
        )
    }
}
