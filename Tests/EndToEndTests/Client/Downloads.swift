import Crypto
import EventTypes
import Foundation
import PaymentQueue
import StoreAPI
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// Hosted content through the client library (spec rules 118 to 124).
    @Suite(.serialized)
    struct Downloads {
        private let bytes = (0..<24_000_000).map { UInt8(truncatingIfNeeded: $0 &* 69_621 >> 6) }

        private struct Setup {
            let fulfillment: HTTPProxy
            let queue: SKPaymentQueue
            let observer: RecordingObserver
            let transaction: SKPaymentTransaction
            let download: SKDownload

            /// Starts the download, and holds it before it is complete.
            func startAndHold() async throws -> Hold {
                let hold = fulfillment.hold(at: .beforeResponse("/content/"), occurrence: 10)
                download.start()
                try await hold.reached()
                return hold
            }

            func reached(_ state: SKDownloadState) async throws {
                try await eventually("the download to be \(state)") {
                    download.state == state ? true : nil
                }
            }
        }

        private func withDownload(_ body: (Setup) async throws -> Void) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                _ = try await store.host(bytes, version: "1.0", for: SampleCatalog.pro)
                var configuration = try EndToEnd.PaymentQueues.configuration(of: store)
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "downloads-\(UUID().uuidString)",
                    isDirectory: true
                )
                configuration.downloadDirectory = folder
                let fulfillment = try await HTTPProxy.start(inFrontOf: store.urls.fulfillment)
                configuration.addresses.fulfillment = fulfillment.url
                SKPaymentQueue.configure(configuration)
                let queue = SKPaymentQueue.default()
                let observer = RecordingObserver()
                queue.add(observer)
                _ = try await store.buy(SampleCatalog.pro)
                let transaction = try await observer.first(.purchased)
                let download = try #require(transaction.downloads.first)
                #expect(transaction.downloads.first === download, "The same object each time.")
                #expect(download.state == .waiting)
                #expect(download.expectedContentLength == bytes.count)
                #expect(download.contentVersion == "1.0")
                try await body(
                    Setup(
                        fulfillment: fulfillment,
                        queue: queue,
                        observer: observer,
                        transaction: transaction,
                        download: download
                    )
                )
                queue.remove(observer)
                await fulfillment.cut()
                // A file that cannot be removed does no harm.
                try? FileManager.default.removeItem(at: folder)
            }
        }

        @Test func pausedFiveTimesItIsWholeAndItsProgressNeverFalls() async throws {
            try await withDownload { setup in
                let download = setup.download
                for _ in 1...5 {
                    // The download cannot be complete yet, even on a fast machine.
                    let hold = setup.fulfillment.hold(
                        at: .beforeResponse("/content/"),
                        occurrence: 10
                    )
                    download.resume()
                    try await hold.reached()
                    download.pause()
                    hold.release()
                }
                download.resume()
                try await setup.reached(.finished)
                let url = try #require(download.contentURL)
                #expect(SHA256.hash(data: try Data(contentsOf: url)) == SHA256.hash(data: bytes))
                #expect(download.progress == 1)
                let progress = setup.observer.progress
                #expect(progress == progress.sorted())
                let states = setup.observer.downloadStates
                #expect(
                    states.count { $0 == .paused } == 5,
                    "Each state is reported as it was then."
                )
                #expect(states.last == .finished)
                try await setup.transaction.finish()
            }
        }

        @Test func finishingTearsADownloadDownAndItIsNotResumed() async throws {
            try await withDownload { setup in
                let hold = try await setup.startAndHold()
                try await setup.transaction.finish()
                try await setup.reached(.cancelled)
                hold.release()
                setup.download.resume()
                try await setup.reached(.failed)
                #expect((setup.download.error as? SKError)?.code == .clientInvalid)
            }
        }

        @Test func calledOffItLeavesNothingAndCanBeBegunAgain() async throws {
            try await withDownload { setup in
                let hold = try await setup.startAndHold()
                setup.download.cancel()
                try await setup.reached(.cancelled)
                #expect(setup.download.progress == 0)
                hold.release()
                try await eventually("the download to be begun again") {
                    setup.download.start()
                    return setup.download.state == .finished ? true : nil
                }
                try await setup.transaction.finish()
            }
        }
    }
}
