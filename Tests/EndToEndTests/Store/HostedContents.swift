import AsyncHTTPClient
import Crypto
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

@testable import PaymentQueue

extension EndToEnd {
    /// Hosted content from the upload to an app whose download is interrupted.
    @Suite
    struct HostedContents {
        /// Bytes in which no piece repeats another, more than the buffers between the two processes
        /// hold, and no multiple of four.
        private static let bytes = (UInt32(0)..<3_086_420).map { $0 &* 2_654_435_761 }
            .withUnsafeBytes { Array($0.dropLast(2)) }

        private var bytes: [UInt8] { Self.bytes }

        private var digest: ContentDigest { ContentDigest(bytes: SHA256.hash(data: bytes)) }

        @Test(arguments: ContentForm.allCases)
        func contentIsDownloadedInPiecesUntilTheFinishAndAfterARestore(
            form: ContentForm
        ) async throws {
            try await withHostingStore(form) { store in
                try await store.importSampleCatalog()
                let content = try await store.host(bytes, version: "1.0", for: SampleCatalog.pro)
                let ada = try store.client(account: "ada")
                let payment = try await store.buy(SampleCatalog.pro)
                let id = payment.transactionID
                let change = try await delivered(id, on: ada.queue())
                #expect(change.contents == [content])
                #expect(try await ada.unfinished().value.transactions == [change])
                try await expectDownload(of: id, by: ada)

                let bob = try await store.client(account: "bob").content(SampleCatalog.pro, of: id)
                #expect(bob.status == 404)

                try await store.finish([payment])
                let refused = try await ada.content(SampleCatalog.pro, of: id)
                #expect(refused.status == 409)
                #expect(try refused.decode(Problem.self).code == "transaction_finished")

                let restored = try await eventually("the finish to be known to payments") {
                    try await ada.restore().value.transactions.first
                }
                let again = try await delivered(restored.id, on: ada.queue())
                #expect(again.contents == [content])
                try await expectDownload(of: restored.id, by: ada)
                #expect(try await ada.content(SampleCatalog.pro, of: id).status == 409)
            }
        }

        @Test func aTransactionKeepsItsVersionWhenThatIsWithdrawn()
            async throws
        {
            try await withStore { store in
                try await store.importSampleCatalog()
                let old = try await store.host(bytes, version: "1.0", for: SampleCatalog.coins)
                let ada = try store.client(account: "ada")
                let first = try await store.buy()
                _ = try await delivered(first.transactionID, on: ada.queue())
                let young = try await store.host(
                    [1, 2, 3],
                    version: "1.1",
                    for: SampleCatalog.coins
                )
                try await store.withdraw("1.0", of: SampleCatalog.coins)
                let second = try await store.buy()
                let change = try await delivered(second.transactionID, on: ada.queue())
                #expect(change.contents == [young])
                #expect(
                    try await ada.unfinished().value.transactions.map(\.contents) == [
                        [old], [young],
                    ]
                )
                try await expectDownload(
                    of: first.transactionID,
                    product: SampleCatalog.coins,
                    by: ada
                )
            }
        }

        @Test(arguments: ContentForm.allCases)
        func anUploadThatWasKilledLeavesNothingAfterTheNextStart(
            form: ContentForm
        ) async throws {
            try await withHostingStore(form) { store in
                let directory = store.directory + "/content"
                let (pieces, sender) = AsyncStream<ByteBuffer>.makeStream()
                sender.yield(ByteBuffer(bytes: bytes[..<1_000_000]))
                var request = HTTPClientRequest(
                    url: store.urls.fulfillment + Routes.adminContent(SampleCatalog.pro)
                        + "?version=1.0"
                )
                request.method = .PUT
                request.headers.add(
                    name: "authorization",
                    value: "Bearer \(try store.keys.administratorToken())"
                )
                request.body = .stream(pieces, length: .known(Int64(bytes.count)))
                let upload = Task { [request] in
                    _ = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                }
                try await eventually("the bytes to be on the disk") {
                    try FileManager.default.contentsOfDirectory(atPath: directory)
                        .contains { $0.hasSuffix(".upload") } ? true : nil
                }
                await store.process(.fulfillment).kill()
                // The service was killed before it could answer.
                await #expect(throws: (any Error).self) { try await upload.value }
                sender.finish()
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
                try await store.process(.fulfillment).start()
                try await store.process(.fulfillment).waitUntilReady()
                try await eventually("what was left to be removed") {
                    try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty
                        ? true : nil
                }
                _ = try await store.host(bytes, version: "1.0", for: SampleCatalog.pro)
            }
        }

        @Test func anAppThatPausesIsKilledAndLosesItsServerEndsWithTheSameBytes() async throws {
            try await withDownload { store, payment, folder, newDownload in
                for pause in 1...5 {
                    // Each download is a new instance, as after a restart of the app.
                    let download = newDownload()
                    let goal = Int64(pause * 2_000_000)
                    await #expect(throws: CancellationError.self) {
                        _ = try await Task {
                            try await download.run { progress in
                                guard progress.bytesWritten >= goal else { return }
                                // Cancel from inside, so that the download is in progress at any
                                // speed.
                                withUnsafeCurrentTask { $0?.cancel() }
                            }
                        }.value
                    }
                    let part = FileManager.default.contents(atPath: "\(folder)/\(digest).part")
                    let written = try #require(part)
                    #expect(written.count >= Int(goal) && written.count < bytes.count)
                    #expect(Array(written) == Array(bytes[..<written.count]))
                    if pause == 3 {
                        await store.process(.fulfillment).kill()
                        try await store.process(.fulfillment).start()
                        try await store.process(.fulfillment).waitUntilReady()
                    }
                }
                let path = try await newDownload().run()
                #expect(FileManager.default.contents(atPath: path) == Data(bytes))
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
            }
        }

        @Test func aCorruptedPartIsDetectedAndAFinishedTransactionIsRefused() async throws {
            try await withDownload { store, payment, folder, newDownload in
                let download = newDownload()
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                var part = Array(bytes[..<1_000_000])
                part[500_000] ^= 1
                let file = "\(folder)/\(digest).part"
                try Data(part).write(to: URL(fileURLWithPath: file))
                let corrupted = await #expect(throws: ContentDownloadError.self) {
                    _ = try await download.run()
                }
                #expect(corrupted?.code == .digestDiffers)
                #expect(!FileManager.default.fileExists(atPath: file))
                #expect(
                    try await FileManager.default.contents(atPath: download.run()) == Data(bytes)
                )
                try FileManager.default.removeItem(atPath: "\(folder)/\(digest)")
                try await store.finish([payment])
                let refused = await #expect(throws: ContentDownloadError.self) {
                    _ = try await download.run()
                }
                #expect(refused?.problem?.code == "transaction_finished")
            }
        }

        /// Runs a test in which an account has bought a product with content.
        ///
        /// The test receives the store, the payment, the download folder, and a function that makes
        /// the content's download like a newly started app.
        private func withDownload(
            _ body: (
                StoreHarness, AcceptedPayment, String, @Sendable () -> ContentDownload
            ) async throws -> Void
        ) async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                _ = try await store.host(bytes, version: "1.0", for: SampleCatalog.pro)
                let ada = try store.client(account: "ada")
                let payment = try await store.buy(SampleCatalog.pro)
                _ = try await delivered(payment.transactionID, on: ada.queue())
                let folder = store.directory + "/downloads"
                var configuration = HTTPClient.Configuration()
                // A timeout reports connections that hang.
                configuration.timeout.read = .seconds(10)
                let http = HTTPClient(
                    eventLoopGroupProvider: .singleton,
                    configuration: configuration
                )
                defer { Task { try await http.shutdown() } }
                let (length, digest) = (Int64(bytes.count), digest)
                try await body(store, payment, folder) {
                    ContentDownload(
                        url: ada.urls.fulfillment
                            + Routes.content(SampleCatalog.pro, of: payment.transactionID),
                        length: length,
                        digest: digest,
                        directory: folder,
                        token: { ada.token },
                        fetch: { try await http.execute($0, timeout: .minutes(5)) },
                        reportInterval: .zero
                    )
                }
            }
        }

        /// Downloads the content in five pieces, and compares the digest of the whole.
        private func expectDownload(
            of id: TransactionID,
            product: ProductID = SampleCatalog.pro,
            by client: StoreClient
        ) async throws {
            var hash = SHA256()
            let step = bytes.count / 5 + 1
            for first in stride(from: 0, to: bytes.count, by: step) {
                let last = min(first + step, bytes.count) - 1
                let part = try await client.content(
                    product,
                    of: id,
                    [("range", "bytes=\(first)-\(last)"), ("if-range", "\"\(digest)\"")]
                )
                #expect(part.status == 206)
                #expect(
                    part.headers["content-range"] == ["bytes \(first)-\(last)/\(bytes.count)"]
                )
                hash.update(data: part.body)
            }
            #expect(ContentDigest(bytes: hash.finalize()) == digest)
        }

        private func delivered(
            _ id: TransactionID,
            on stream: QueueStream
        ) async throws -> QueueChanged {
            for try await event in stream {
                guard let change = event.change, change.transaction.id == id, change.isDelivered
                else { continue }
                return change
            }
            throw HarnessError("The stream ended before \(id) was delivered.")
        }
    }
}

/// The storage of a store's contents.
enum ContentForm: CaseIterable, Sendable {
    case disk
    case s3
}

/// Runs a test against a store with one kind of storage.
private func withHostingStore(
    _ form: ContentForm,
    _ body: (StoreHarness) async throws -> Void
) async throws {
    guard form == .s3 else { return try await withStore(StoreOptions(), body) }
    let s3 = try await S3Store.start()
    let keys = NSTemporaryDirectory() + "/counterfoil-s3-keys-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: keys) }  // A leftover does no harm.
    try s3.accessKey.write(toFile: keys + "/access", atomically: true, encoding: .utf8)
    try s3.secretKey.write(toFile: keys + "/secret", atomically: true, encoding: .utf8)
    var options = StoreOptions()
    options.settings[.fulfillment] = [
        "CONTENT_S3_ENDPOINT": s3.endpoint, "CONTENT_S3_BUCKET": s3.bucket,
        "CONTENT_S3_PREFIX": "tests", "CONTENT_S3_ACCESS_KEY_FILE": keys + "/access",
        "CONTENT_S3_SECRET_KEY_FILE": keys + "/secret",
    ]
    try await withStore(options) { store in
        try await body(store)
        let objects = try s3.objects()
        #expect(objects.count == 1 && objects.keys.allSatisfy { $0.hasPrefix("tests/") })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: store.directory + "/content")
                .isEmpty
        )
        for process in store.processes {
            #expect(!process.logTail(lines: 10_000).contains(s3.secretKey))
        }
    }
}

extension StoreClient {
    /// Requests the content of a transaction.
    fileprivate func content(
        _ identifier: ProductID,
        of id: TransactionID,
        _ headers: [(String, String)] = []
    ) async throws -> StoreResponse {
        try await raw(.GET, urls.fulfillment + Routes.content(identifier, of: id), headers: headers)
    }
}

extension StoreHarness {
    /// Uploads a version of a product's content.
    func host(
        _ bytes: [UInt8],
        version: String,
        for productID: ProductID
    ) async throws -> HostedContent {
        let answer = try await administrator.raw(
            .PUT,
            urls.fulfillment + Routes.adminContent(productID) + "?version=\(version)",
            body: bytes
        )
        guard answer.status == 201 else { throw HarnessError(answer.text) }
        let stored = try answer.decode(HostedContentVersion.self)
        return HostedContent(
            contentIdentifier: productID,
            version: stored.version,
            length: stored.length,
            sha256: stored.sha256
        )
    }

    /// Withdraws a version from new purchases.
    fileprivate func withdraw(_ version: String, of productID: ProductID) async throws {
        let answer = try await administrator.raw(
            .DELETE,
            urls.fulfillment
                + Routes.adminContent(productID, ContentVersion(unchecked: version))
        )
        guard answer.status == 200 else { throw HarnessError(answer.text) }
    }
}
