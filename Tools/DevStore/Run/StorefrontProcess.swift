import EventTypes
import Foundation
import NIOHTTP1
import StoreHarness

/// The storefront beside the store of `devstore run`.
struct StorefrontProcess {
    /// The port, after those of the services.
    static let port = 8085
    /// The address for a browser.
    static let url = "http://127.0.0.1:\(port)/"

    private let child: ChildProcess

    /// Starts the storefront and waits until it answers.
    ///
    /// - Parameter store: The store, whose keys it gets: that of the app, and the administrator's for
    ///   the sandbox's controls.
    /// - Returns: The running storefront.
    /// - Throws: ``HarnessError`` if it does not start.
    static func start(beside store: StoreHarness) async throws -> StorefrontProcess {
        let privateKeys = store.keys.directory + "/private"
        let process = StorefrontProcess(
            child: try await ChildProcess.start(
                try BuiltExecutables.path("storefront"),
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
                environment: ProcessInfo.processInfo.environment,
                logPath: store.directory + "/logs/storefront.log"
            )
        )
        do {
            try await process.waitUntilItAnswers()
        } catch {
            await process.stop()
            throw error
        }
        return process
    }

    /// The way in which it ended; `nil` while it is running.
    var exitIfEnded: ChildProcess.Exit? { child.exitIfEnded }

    /// Asks it to end, and ends it if it does not do so within some seconds.
    func stop() async {
        child.send(SIGTERM)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                // A cancelled wait means that it has ended.
                (try? await Task.sleep(for: .seconds(5))) != nil
            }
            group.addTask {
                _ = await child.exit()
                return false
            }
            if await group.next() == true { child.send(SIGKILL) }
            group.cancelAll()
        }
    }

    private func waitUntilItAnswers() async throws {
        try await eventually(within: .seconds(20), "the storefront answers") {
            guard exitIfEnded == nil else {
                throw HarnessError("The storefront has ended; its log is \(child.logPath).")
            }
            // Until it listens there is no connection.
            return (try? await StoreHTTP.send(.GET, Self.url))?.status == 200 ? () : nil
        }
    }
}
