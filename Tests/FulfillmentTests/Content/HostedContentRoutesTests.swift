import Crypto
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI
import Synchronization
import Testing
import TestSupport

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct HostedContentRoutesTests {
    private let level = ProductID(unchecked: "level.1")
    /// Bytes for several chunks, the last of them incomplete.
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    private var digest: ContentDigest { ContentDigest(bytes: SHA256.hash(data: bytes)) }

    @Test(arguments: ContentForm.allCases)
    func anAdministratorUploadsListsAndWithdraws(form: ContentForm) async throws {
        try await withServer(form) { server, _ in
            let path = Routes.adminContent(level)
            let created = try await server.administer(.PUT, path + "?version=1.0", body: bytes)
            #expect(created.status == 201)
            let version = try created.decode(HostedContentVersion.self)
            #expect(version.length == 300_000 && version.sha256 == digest)
            let again = try await server.administer(
                .PUT,
                "\(path)?version=1.0&sha256=\(digest)",
                body: bytes
            )
            #expect(again.status == 200)
            #expect(try again.decode(HostedContentVersion.self) == version)
            let list = try await server.administer(.GET, path)
            #expect(try list.decode(HostedContentsResponse.self).contents == [version])
            let withdrawn = try await server.administer(
                .DELETE,
                Routes.adminContent(level, version.version)
            )
            #expect(
                try withdrawn.decode(HostedContentVersion.self).withdrawnAt == startOfTime
            )
            let other = ProductID(unchecked: "level.2")
            let none = try await server.administer(.GET, Routes.adminContent(other))
            #expect(try none.decode(HostedContentsResponse.self).contents.isEmpty)
        }
    }

    @Test func eachRefusalOfAnUploadHasItsStatusAndItsCodeAndLeavesNothing() async throws {
        try await StreamServer.run(contentLengthMax: 300_000) { server in
            let path = Routes.adminContent(level)
            let zeros = String(repeating: "0", count: 64)
            let base64 = Data(SHA256.hash(data: [0])).base64EncodedString()
            let refusals: [(String, [(String, String)], [UInt8], Int, String)] = [
                (path, [], bytes, 400, "content_version_malformed"),
                (path + "?version=..", [], bytes, 400, "content_version_malformed"),
                (path + "?version=1&sha256=x", [], bytes, 400, "content_digest_malformed"),
                (path + "?version=1&sha256=\(zeros)", [], bytes, 400, "content_digest_differs"),
                (
                    path + "?version=1", [("repr-digest", "sha-256=:\(base64):")], bytes, 400,
                    "content_digest_differs"
                ),
                (
                    path + "?version=1", [("content-encoding", "gzip")], bytes, 415,
                    "unsupported_content_encoding"
                ),
                (path + "?version=1", [], [], 400, "content_empty"),
                (path + "?version=1", [], bytes + [0], 413, "content_too_large"),
                (
                    Routes.adminProducts + "/a%20b/content?version=1", [], bytes, 400,
                    "product_malformed"
                ),
            ]
            for (path, headers, body, status, code) in refusals {
                let answer = try await server.administer(.PUT, path, headers, body: body)
                #expect(answer.status == status, "\(path): \(answer.text)")
                #expect(try answer.decode(Problem.self).code == code)
            }
            #expect(try server.contentFiles().isEmpty)
            _ = try await server.administer(.PUT, path + "?version=1", body: bytes)
            let taken = try await server.administer(.PUT, path + "?version=1", body: [1])
            #expect(taken.status == 409)
            #expect(try taken.decode(Problem.self).code == "content_version_taken")
            let unknown = try await server.administer(.DELETE, path + "/2.0")
            #expect(unknown.status == 404)
        }
    }

    @Test func aStorageWithoutRoomHasAnAnswerOfItsOwn() async throws {
        for (code, status) in [
            (ContentStorageError.Code.full, 507), (.unusable, 500), (.away, 503),
        ] {
            try await StreamServer.run(contentStorage: FailingStorage(code: code)) { server in
                let path = Routes.adminContent(level) + "?version=1"
                let answer = try await server.administer(.PUT, path, body: bytes)
                #expect(answer.status == status)
            }
        }
    }

    @Test func onlyAdministratorsUpload() async throws {
        try await StreamServer.run { server in
            let path = Routes.adminContent(level) + "?version=1"
            let answer = try await server.send(.PUT, path)
            #expect(answer.status == 401)
            #expect(try server.contentFiles().isEmpty)
        }
    }

    @Test func whatIsTooLargeOrOfNoLengthIsRefusedBeforeAByteOfItIsRead() async throws {
        try await StreamServer.run(contentLengthMax: 5 << 20) { server in
            for (length, status, code) in [
                ("content-length: 5242881", "413", "content_too_large"),
                ("content-length: 9000000000000000000", "413", "content_too_large"),
                ("transfer-encoding: chunked", "411", "content_length_required"),
            ] {
                let connection = try RawConnection(port: server.port)
                connection.send(try server.uploadHead(of: level, length: length))
                let answer = try await connection.read(until: code)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
                #expect(answer.contains(code))
                #expect(answer.lowercased().contains("connection: close"))
            }
        }
    }

    @Test func anUploadThatIsCutOffInTheMiddleIsNowhereToBeSeen() async throws {
        try await StreamServer.run { server in
            do {
                let connection = try RawConnection(port: server.port)
                connection.send(try server.uploadHead(of: level, length: "content-length: 100"))
                connection.send(String(repeating: "a", count: 60))
                try await eventually("the bytes to arrive") {
                    try server.contentFiles().values.first?.count == 60 ? true : nil
                }
            }
            try await eventually("the bytes to be thrown away") {
                try server.contentFiles().isEmpty ? true : nil
            }
            let list = try await server.administer(.GET, Routes.adminContent(level))
            #expect(try list.decode(HostedContentsResponse.self).contents.isEmpty)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func aContentIsDownloadedWholeInPartsAndItsHeadAlone(form: ContentForm) async throws {
        try await withServer(form) { server, _ in
            try await server.host(bytes, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            let whole = try await server.ask(.GET, path)
            #expect(whole.status == 200)
            #expect(whole.body == bytes)
            #expect(whole.headers["etag"] == ["\"\(digest)\""])
            #expect(whole.headers["accept-ranges"] == ["bytes"])
            #expect(whole.headers["content-length"] == ["300000"])
            #expect(whole.headers["content-type"] == ["application/octet-stream"])
            let head = try await server.ask(.HEAD, path, [("range", "bytes=0-9")])
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers["content-length"] == ["300000"])
            #expect(head.headers["etag"] == ["\"\(digest)\""])
            for (range, part) in [
                ("0-0", 0..<1), ("131071-131072", 131_071..<131_073),
                ("299999-", 299_999..<300_000),
                ("-5", 299_995..<300_000), ("10000-299999", 10_000..<300_000),
            ] {
                let answer = try await server.ask(.GET, path, [("range", "bytes=\(range)")])
                #expect(answer.status == 206)
                #expect(answer.body == Array(bytes[part]))
                #expect(
                    answer.headers["content-range"]
                        == ["bytes \(part.lowerBound)-\(part.upperBound - 1)/300000"]
                )
                #expect(answer.headers["content-length"] == ["\(part.count)"])
            }
        }
    }

    @Test func aRangeThatIsNotThereIs416AndOfAnotherContentIsIgnored() async throws {
        try await StreamServer.run { server in
            try await server.host(bytes, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            let none = try await server.ask(.GET, path, [("range", "bytes=300000-")])
            #expect(none.status == 416)
            #expect(none.headers["content-range"] == ["bytes */300000"])
            #expect(try none.decode(Problem.self).code == "range_not_satisfiable")
            let mine = [("range", "bytes=5-"), ("if-range", "\"\(digest)\"")]
            #expect(try await server.ask(.GET, path, mine).status == 206)
            let others = [("range", "bytes=5-"), ("if-range", "\"other\"")]
            let whole = try await server.ask(.GET, path, others)
            #expect(whole.status == 200 && whole.body.count == 300_000)
        }
    }

    @Test func onlyAnUnfinishedPaidTransactionOfTheAccountDownloads() async throws {
        try await StreamServer.run { server in
            try await server.host(bytes, for: level)
            try await server.store.arrive(
                .sample(1, product: "level.1"),
                .sample(2, product: "level.1"),
                .sample(3, version: 1, state: .purchasing, product: "level.1"),
                .sample(4, state: .deferred, product: "level.1"),
                .sample(5, state: .failed, product: "level.1"),
                .sample(6, account: "bob", product: "level.1"),
                .sample(7)
            )
            try await server.store.arrive(.sample(2, product: "level.1").refunded())
            try await server.store.finish(1)
            let refusals: [(String, String, Int, String)] = [
                ("1", "level.1", 409, "transaction_finished"),
                ("2", "level.1", 409, "transaction_revoked"),
                ("3", "level.1", 409, "transaction_purchasing"),
                ("4", "level.1", 409, "transaction_deferred"),
                ("5", "level.1", 409, "transaction_failed"),
                ("6", "level.1", 404, "transaction_unknown"),
                ("8", "level.1", 404, "transaction_unknown"),
                ("x", "level.1", 404, "transaction_unknown"),
                ("7", "coins.100", 404, "content_unknown"),
                ("7", "level.1", 404, "content_unknown"),
            ]
            for (id, identifier, status, code) in refusals {
                let path = "\(Routes.transactions)/\(id)/content/\(identifier)"
                let answer = try await server.ask(.GET, path)
                #expect(answer.status == status, "\(path)")
                #expect(try answer.decode(Problem.self).code == code)
            }
        }
    }

    @Test(arguments: ContentForm.allCases)
    func missingBytesAreAFailureOfTheServiceButNotItsEnd(form: ContentForm) async throws {
        try await withServer(form) { server, place in
            try await server.host(bytes, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            try place.write(Array(bytes.dropLast()), as: digest)
            #expect(try await server.ask(.GET, path).status == 500)
            #expect(try await server.ask(.GET, path, [("range", "bytes=0-9")]).status == 500)
            #expect(try await server.ask(.HEAD, path).status == 500)
            try place.write(nil, as: digest)
            let missing = try await server.ask(.GET, path)
            #expect(missing.status == 500)
            #expect(try missing.decode(Problem.self).incident != nil)
            #expect(try await server.ask(.HEAD, path).status == 500)
            try await server.host(bytes, for: level)
            #expect(try await server.ask(.GET, path).body == bytes)
        }
    }

    @Test func aStoreThatIsAwayIs503WithATimeAndTheServiceGoesOn() async throws {
        let s3 = try await S3Store.start()
        let folder = ContentFolder()
        defer { folder.remove() }
        try await using(S3ContentStorage(s3, spool: folder.path)) { storage in
            try await StreamServer.run(contentStorage: storage) { server in
                try await server.host(bytes, for: level)
                try await server.store.arrive(.sample(1, product: "level.1"))
                let path = Routes.content(level, of: TransactionID(number: 1))
                await s3.kill()
                for answer in [
                    try await server.ask(.GET, path),
                    try await server.ask(.GET, path, [("range", "bytes=-5")]),
                    try await server.administer(
                        .PUT,
                        Routes.adminContent(level) + "?version=2",
                        body: bytes
                    ),
                ] {
                    #expect(answer.status == 503)
                    #expect(answer.headers["retry-after"] == ["1"])
                    #expect(try answer.decode(Problem.self).code == "try_again")
                }
                #expect(try folder.files().isEmpty)
                try await s3.restart()
                #expect(try await server.ask(.GET, path).body == bytes)
            }
        }
    }

    @Test(arguments: ContentForm.allCases)
    func aClientThatReadsSlowlyHoldsOnlyWhatConnectionsBuffer(form: ContentForm) async throws {
        try await StorageUnderTest.with(form) { place in
            let count = Mutex(0)
            let storage = StoppedStorage(
                storage: place.storage,
                onRead: { bytes in count.withLock { $0 += bytes } }
            )
            try await StreamServer.run(contentStorage: storage) { server in
                let large = [UInt8](repeating: 7, count: 48 << 20)
                try await server.host(large, for: level)
                try await server.store.arrive(.sample(1, product: "level.1"))
                let path = Routes.content(level, of: TransactionID(number: 1))
                let connection = try server.beginDownload(path)
                #expect(try await connection.read(until: "200").hasPrefix("HTTP/1.1 200 "))
                // This client stops reading, and the others are still served.
                for _ in 1...2 {
                    #expect(
                        try await server.ask(.GET, path, [("range", "bytes=-1000")]).status == 206
                    )
                    #expect(try await server.ask(.GET, path).body == large)
                }
                let others = 2 * (48 << 20) + 2000
                #expect(count.withLock { $0 } - others < 40 << 20)
            }
        }
    }

    @Test func moreDownloadsThanAllowedAreRefusedWithATime() async throws {
        let limits = DownloadPermits.Limits(downloadsMax: 2, downloadsPerAccountMax: 1)
        try await StreamServer.run(downloads: limits) { server in
            try await server.host([UInt8](repeating: 7, count: 60 << 20), for: level)
            try await server.store.arrive(
                .sample(1, product: "level.1"),
                .sample(2, account: "bob", product: "level.1"),
                .sample(3, account: "carol", product: "level.1")
            )
            let accounts = ["alice", "bob", "carol"]
            let paths = (1...3).map { Routes.content(level, of: TransactionID(number: $0)) }
            var slow: [RawConnection] = []
            for index in 0...1 {
                slow.append(try server.beginDownload(paths[index], accounts[index]))
                #expect(try await slow[index].read(until: "200").hasPrefix("HTTP/1.1 200 "))
            }
            for (index, status, code) in [
                (0, 429, "too_many_downloads"), (2, 503, "overloaded"),
            ] {
                let answer = try await server.ask(.GET, paths[index], by: accounts[index])
                #expect(answer.status == status)
                #expect(try answer.decode(Problem.self).code == code)
                #expect(answer.headers["retry-after"] == ["5"])
            }
            // A request without bytes takes no place.
            #expect(try await server.ask(.HEAD, paths[0]).status == 200)
            slow.removeAll()
            try await eventually("the permits to be given back") {
                server.downloads.count == 0 ? true : nil
            }
            for index in 0...2 {
                let range = [("range", "bytes=0-9")]
                let answer = try await server.ask(.GET, paths[index], range, by: accounts[index])
                #expect(answer.status == 206)
            }
        }
    }

    /// Runs a test against a server with the given kind of storage.
    private func withServer(
        _ form: ContentForm,
        _ body: @escaping @Sendable (StreamServer, StorageUnderTest) async throws -> Void
    ) async throws {
        try await StorageUnderTest.with(form) { place in
            try await StreamServer.run(contentStorage: place.storage) { try await body($0, place) }
        }
    }
}
