import EventTypes
import Foundation
import NIOCore
import Synchronization
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct S3ContentStorageTests {
    /// More bytes than connections buffer, without long repetitions.
    private static let bytes: [UInt8] = {
        var bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        for _ in 1...10 { bytes += bytes }
        return bytes
    }()

    /// Runs a test with an S3 store of its own.
    private func withStore(
        _ body:
            @Sendable @escaping (FulfillmentDatabase, S3Store, ContentFolder) async throws -> Void
    ) async throws {
        try await withFulfillment { store in
            let folder = ContentFolder()
            defer { folder.remove() }
            try await body(store, try await S3Store.start(), folder)
        }
    }

    @Test func aWrongSettingIsReportedByItsNameWithoutSecrets() async throws {
        try await withStore { _, s3, folder in
            try await using(S3ContentStorage(s3, spool: folder.path)) { try await $0.check() }
            for (storage, setting) in [
                (S3ContentStorage(s3, bucket: "other", spool: folder.path), "CONTENT_S3_BUCKET"),
                (
                    S3ContentStorage(s3, accessKey: "stranger", spool: folder.path),
                    "CONTENT_S3_ACCESS_KEY_FILE"
                ),
                (
                    S3ContentStorage(s3, secretKey: "wrong-secret", spool: folder.path),
                    "CONTENT_S3_SECRET_KEY_FILE"
                ),
            ] {
                let error = await #expect(throws: ContentStorageError.self) {
                    try await using(storage) { try await $0.check() }
                }
                #expect(error?.code == .unusable)
                #expect(error?.message.contains(setting) == true)
                #expect(error?.description.contains("secret/") == false)
                #expect(error?.description.contains("wrong-secret") == false)
            }
        }
    }

    @Test func aStoreThatIsAwayIsRetriableAndNothingIsHalfDone() async throws {
        try await withStore { store, s3, folder in
            try await using(S3ContentStorage(s3, spool: folder.path)) { storage in
                let contents = store.contents(storage)
                await s3.kill()
                let error = await #expect(throws: ContentStorageError.self) {
                    try await contents.upload([1, 2, 3])
                }
                #expect(error?.isRetriable == true)
                #expect(try folder.files().isEmpty)
                #expect(try s3.objects().isEmpty)
                #expect(
                    try await contents.versions(of: ProductID(unchecked: "level.1")).isEmpty
                )
                try await s3.restart()
                #expect(try await contents.upload([1, 2, 3]).isNew)
                #expect(Array(try s3.objects().values) == [[1, 2, 3]])
            }
        }
    }

    @Test func aPutWhoseConnectionIsLostIsMadeAgainWithTheSameBytes() async throws {
        try await withStore { store, s3, folder in
            let proxy = try await HTTPProxy.start(inFrontOf: s3.endpoint)
            let storage = S3ContentStorage(s3, endpoint: proxy.url, spool: folder.path)
            try await using(storage) { storage in
                let answer = proxy.hold(at: .beforeResponse("PUT /contents"))
                async let outcome = store.contents(storage).upload([1, 2, 3])
                try await answer.reached()
                await proxy.cut()
                answer.release()
                try await proxy.resume()
                #expect(try await outcome.isNew)
                #expect(proxy.requests.count { $0.hasPrefix("PUT ") } > 1)
                #expect(Array(try s3.objects().values) == [[1, 2, 3]])
            }
            await proxy.cut()
        }
    }

    @Test func aRemovalThatTheStoreDoesNotAnswerEndsInItsTime() async throws {
        try await withStore { _, s3, folder in
            let proxy = try await HTTPProxy.start(inFrontOf: s3.endpoint)
            let storage = S3ContentStorage(
                s3,
                endpoint: proxy.url,
                removalMax: .milliseconds(300),
                spool: folder.path
            )
            try await using(storage) { storage in
                let digest = HostedContent.sample(bytes: [1]).sha256
                try s3.write([1], as: digest.rawValue)
                let request = proxy.hold(at: .beforeRequest("DELETE /contents"))
                let time = await ContinuousClock().measure {
                    let error = await #expect(throws: ContentStorageError.self) {
                        try await storage.remove(digest)
                    }
                    #expect(error?.code == .away)
                }
                // A single try would last for the store's minute.
                #expect(time < .seconds(50))
                #expect(request.isReached)
                request.release()
                // The removal has the ordinary time now.
                let patient = S3ContentStorage(s3, endpoint: proxy.url, spool: folder.path)
                try await using(patient) { try await $0.remove(digest) }
                #expect(try s3.objects().isEmpty)
            }
            await proxy.cut()
        }
    }

    @Test func aDownloadGoesOnWhereItsStoreWasKilled() async throws {
        try await withStore { store, s3, folder in
            try await using(S3ContentStorage(s3, spool: folder.path)) { storage in
                let sample = HostedContent.sample(bytes: Self.bytes)
                try s3.write(Self.bytes, as: sample.sha256.rawValue)
                let range: Range<Int64> = 7..<39_999_999
                let reader = try await storage.open(
                    sample.sha256,
                    length: sample.length,
                    range: range
                )
                var read: [UInt8] = []
                try await reader.read { part in
                    if read.isEmpty { try await s3.restart() }
                    read.append(contentsOf: part.readableBytesView)
                }
                #expect(read == Array(Self.bytes[7..<39_999_999]))
            }
        }
    }

    @Test func aStoreThatDoesNotComeBackEndsADownloadWithAFailureSoon() async throws {
        try await withStore { store, s3, folder in
            try await using(S3ContentStorage(s3, spool: folder.path)) { storage in
                let sample = HostedContent.sample(bytes: Self.bytes)
                try s3.write(Self.bytes, as: sample.sha256.rawValue)
                let reader = try await storage.open(
                    sample.sha256,
                    length: sample.length,
                    range: 0..<sample.length
                )
                let error = await #expect(throws: ContentStorageError.self) {
                    try await reader.read { _ in await s3.kill() }
                }
                #expect(error?.code == .away)
            }
        }
    }

    @Test func whatAClientDoesNotTakeIsNotAskedFor() async throws {
        struct Gone: Error {}
        try await withStore { store, s3, folder in
            try await using(S3ContentStorage(s3, spool: folder.path)) { storage in
                let sample = HostedContent.sample(bytes: Self.bytes)
                try s3.write(Self.bytes, as: sample.sha256.rawValue)
                let reader = try await storage.open(
                    sample.sha256,
                    length: sample.length,
                    range: 0..<sample.length
                )
                var count = 0
                await #expect(throws: Gone.self) {
                    try await reader.read { _ in
                        count += 1
                        throw Gone()
                    }
                }
                #expect(count == 1)
            }
        }
    }

    @Test(arguments: [
        (404, "<Error><Code>NoSuchKey</Code></Error>", ContentStorageError.Code.missing),
        (404, "", .missing), (404, "<Code>NoSuchBucket</Code>", .unusable),
        (403, "<Code>SignatureDoesNotMatch</Code>", .unusable), (403, "", .unusable),
        (301, "<Code>PermanentRedirect</Code>", .unusable), (500, "", .away),
        (503, "<Code>SlowDown</Code>", .away), (429, "", .away),
        (400, "<Code>RequestTimeout</Code>", .away), (507, "", .full),
        (507, "<Code>XMinioStorageFull</Code>", .full), (400, "<Code>a b</Code>", .unusable),
    ])
    func aStoresFailuresHaveTheirMeanings(
        status: Int,
        document: String,
        code: ContentStorageError.Code
    ) {
        let settings = S3Settings(
            endpoint: "https://store.example",
            bucket: "contents",
            region: "us-east-1",
            prefix: "",
            accessKey: "the-access-key",
            secretKey: "the-secret-key",
            timeout: .seconds(1),
            connectionsMax: 1
        )
        let error = S3Failure.error(
            status: status,
            document: document,
            of: "GET /contents/x",
            in: settings
        )
        #expect(error.code == code)
        #expect(!error.message.contains("-key\n") && !error.message.contains("the-"))
    }
}
