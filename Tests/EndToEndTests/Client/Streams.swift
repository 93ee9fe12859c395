import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// Clients receive changes over the stream without polling (spec rule 20).
    @Suite(.serialized)
    struct Streams {
        /// Runs a test with an observer whose requests are all recorded.
        private func withProxies(
            heartbeat: Duration,
            silenceMax: Duration = .seconds(45),
            _ body: (StoreHarness, [HTTPProxy], RecordingObserver) async throws -> Void
        ) async throws {
            var options = StoreOptions()
            let milliseconds = Int(heartbeat / .milliseconds(1))
            options.settings[.fulfillment] = ["STREAM_HEARTBEAT_MS": "\(milliseconds)"]
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let proxies = [
                    try await HTTPProxy.start(inFrontOf: store.urls.fulfillment),
                    try await HTTPProxy.start(inFrontOf: store.urls.payments),
                    try await HTTPProxy.start(inFrontOf: store.urls.catalog),
                    try await HTTPProxy.start(inFrontOf: store.urls.receipts),
                ]
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                configuration.addresses = .init(
                    catalog: proxies[2].url,
                    payments: proxies[1].url,
                    fulfillment: proxies[0].url,
                    receipts: proxies[3].url
                )
                configuration.streamSilenceMax = silenceMax
                SKPaymentQueue.configure(configuration)
                let observer = RecordingObserver()
                try await body(store, proxies, observer)
                SKPaymentQueue.default().remove(observer)
                for proxy in proxies { await proxy.cut() }
            }
        }

        /// A minute has four heartbeats of fifteen seconds, and the silence limit is forty-five
        /// seconds.
        ///
        /// This test's clock runs faster. Its silence limit is as long as six heartbeats, because a busy
        /// machine sends some of them late.
        @Test func aMinuteInWhichNothingHappensIsOneRequest() async throws {
            try await withProxies(
                heartbeat: .seconds(2),
                silenceMax: .seconds(12)
            ) { store, proxies, observer in
                // The head arrives with the first heartbeat, followed by more than a minute's
                // heartbeats.
                let minute = proxies[0].hold(
                    at: .beforeResponse("GET \(Routes.queue) "),
                    occurrence: 8
                )
                SKPaymentQueue.default().add(observer)
                try await minute.reached()
                #expect(proxies.map(\.requests.count) == [1, 0, 0, 0])
                minute.release()
                // The stream still receives changes.
                _ = try await store.buy()
                _ = try await observer.first(.purchased)
            }
        }

        /// The heartbeat would also deliver the change, but only after five minutes.
        @Test func aChangeReachesAStreamByTheTopicAndNotByTheHeartbeat() async throws {
            try await withProxies(heartbeat: .seconds(300)) { store, proxies, observer in
                SKPaymentQueue.default().add(observer)
                try await eventually("the stream to be open") {
                    proxies[0].requests.count == 1 ? true : nil
                }
                // Two purchases, because the first may be part of the beginning of the stream.
                for count in 1...2 {
                    _ = try await store.buy()
                    try await eventually("purchase \(count) to be told") {
                        observer.transactions(.purchased).count == count ? true : nil
                    }
                }
                #expect(proxies[0].requests.count == 1, "One stream, and nothing beside it.")
            }
        }

        /// Downloads trust the same certificate authorities as requests.
        @Test func contentOfAStoreOfAnOwnAuthorityIsDownloadedFromIt() async throws {
            let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 69_621 >> 6) }
            try await withStore { store in
                try await store.importSampleCatalog()
                _ = try await store.host(bytes, version: "1.0", for: SampleCatalog.pro)
                _ = try await store.buy(SampleCatalog.pro)
                let authority = try TLSAuthority()
                let proxy = try await HTTPProxy.start(
                    inFrontOf: store.urls.fulfillment,
                    certifiedBy: authority
                )
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "downloads-\(UUID().uuidString)",
                    isDirectory: true
                )
                // A file that cannot be removed does no harm.
                defer { try? FileManager.default.removeItem(at: folder) }
                configuration.addresses.fulfillment = proxy.url
                configuration.downloadDirectory = folder
                configuration.trustedRoots = try TrustedRoots(pem: try authority.pem)
                SKPaymentQueue.configure(configuration)
                let observer = RecordingObserver()
                SKPaymentQueue.default().add(observer)
                let transaction = try await observer.first(.purchased)
                let download = try #require(transaction.downloads.first)
                download.start()
                try await eventually("the download to be finished") {
                    download.state == .finished ? true : nil
                }
                let url = try #require(download.contentURL)
                #expect(try Data(contentsOf: url) == Data(bytes))
                #expect(proxy.requests.contains { $0.contains("/content/") })
                SKPaymentQueue.default().remove(observer)
                await proxy.cut()
            }
        }
    }
}
