import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// A program that is configured for another account while it still holds transactions of the
    /// previous one.
    @Suite(.serialized)
    struct Replacements {
        private let bytes = (0..<24_000_000).map { UInt8(truncatingIfNeeded: $0 &* 69_621 >> 6) }

        private struct Setup {
            let store: StoreHarness
            let ada: StoreClient
            let fulfillment: HTTPProxy
            let transaction: SKPaymentTransaction

            /// Configures the program for another account.
            func becomeBob() throws {
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                let bob = try store.client(account: "bob").token
                configuration.accountToken = { _ in bob }
                SKPaymentQueue.configure(configuration)
            }

            func reached(_ state: SKDownloadState, _ download: SKDownload) async throws {
                try await eventually("the download to be \(state)") {
                    download.state == state ? true : nil
                }
            }
        }

        /// Runs a test in which ada has bought a product with content.
        private func withPurchase(_ body: (Setup) async throws -> Void) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                _ = try await store.host(bytes, version: "1.0", for: SampleCatalog.pro)
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "downloads-\(UUID().uuidString)",
                    isDirectory: true
                )
                // A file that cannot be removed does no harm.
                defer { try? FileManager.default.removeItem(at: folder) }
                configuration.downloadDirectory = folder
                let fulfillment = try await HTTPProxy.start(inFrontOf: store.urls.fulfillment)
                configuration.addresses.fulfillment = fulfillment.url
                SKPaymentQueue.configure(configuration)
                let observer = RecordingObserver()
                SKPaymentQueue.default().add(observer)
                _ = try await store.buy(SampleCatalog.pro)
                let transaction = try await observer.first(.purchased)
                try await observer.delivered(transaction)
                try await body(
                    Setup(
                        store: store,
                        ada: try store.client(account: "ada"),
                        fulfillment: fulfillment,
                        transaction: transaction
                    )
                )
                await fulfillment.cut()
            }
        }

        @Test func anAccountsPurchaseIsDownloadedForItWhenAnotherIsConfigured() async throws {
            try await withPurchase { setup in
                let download = try #require(setup.transaction.downloads.first)
                let hold = setup.fulfillment.hold(
                    at: .beforeResponse("/content/"),
                    occurrence: 10
                )
                download.start()
                try await hold.reached()
                download.pause()
                try await setup.reached(.paused, download)
                hold.release()
                try setup.becomeBob()
                // Use the new queue, which forwards the call, and the download itself.
                let bobs: any Downloading = SKPaymentQueue.default()
                bobs.resume([download])
                try await setup.reached(.finished, download)
                let url = try #require(download.contentURL)
                #expect(try Data(contentsOf: url) == Data(bytes))
                try await setup.transaction.finish()
                let refused = try #require(setup.transaction.downloads.first)
                #expect(refused === download)
            }
        }

        @Test func whatIsBegunAfterAnotherAccountIsConfiguredIsDownloadedAsWell() async throws {
            try await withPurchase { setup in
                let download = try #require(setup.transaction.downloads.first)
                try setup.becomeBob()
                download.start()
                try await setup.reached(.finished, download)
            }
        }

        @Test func whatAnotherAccountsQueueFinishedDownloadsNothingMore() async throws {
            try await withPurchase { setup in
                let download = try #require(setup.transaction.downloads.first)
                try setup.becomeBob()
                try await SKPaymentQueue.default().finish(setup.transaction)
                #expect(try await setup.ada.unfinished().value.transactions.isEmpty)
                // It is safe to call twice, including the form without a result.
                SKPaymentQueue.default().finishTransaction(setup.transaction)
                let before = setup.fulfillment.requests.count
                download.start()
                try await setup.reached(.failed, download)
                #expect((download.error as? SKError)?.code == .clientInvalid)
                try await setup.transaction.finish()
                #expect(
                    !setup.fulfillment.requests.dropFirst(before).contains {
                        $0.contains("/content/")
                    },
                    "The store is not asked."
                )
            }
        }

        @Test func whatNobodyObservesAnyMoreIsFinishedByWayOfTheOtherQueue() async throws {
            try await withPurchase { setup in
                try setup.becomeBob()
                SKPaymentQueue.default().finishTransaction(setup.transaction)
                try await eventually("the finish to reach ada's queue") {
                    try await setup.ada.unfinished().value.transactions.isEmpty ? true : nil
                }
                let owned = try await setup.ada.entitlements().value.entitlements
                #expect(owned.map(\.productID) == [SampleCatalog.pro])
            }
        }
    }
}

/// The queue's own methods.
///
/// They are deprecated, and this protocol avoids the warnings.
private protocol Downloading {
    func resume(_ downloads: [SKDownload])
}

extension SKPaymentQueue: Downloading {}
