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

@Suite("Hosted contents over HTTP", .timeLimit(.minutes(2)))
struct HostedContentRoutesTests {
    private let level = ProductID(unchecked: "level.1")
    /// More than one chunk, and not a whole number of them.
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    private var digest: ContentDigest { ContentDigest(bytes: SHA256.hash(data: bytes)) }

    @Test("An administrator uploads, lists and withdraws")
    func administration() async throws {
        try await StreamServer.run { server in
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

    @Test("Each refusal of an upload has its status and its code, and leaves nothing")
    func uploadRefusals() async throws {
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

    @Test("A storage without room is told from other failures")
    func fullStorage() async throws {
        for (code, status) in [(ContentStorageError.Code.full, 507), (.unusable, 500)] {
            try await StreamServer.run(contentStorage: FailingStorage(code: code)) { server in
                let path = Routes.adminContent(level) + "?version=1"
                let answer = try await server.administer(.PUT, path, body: bytes)
                #expect(answer.status == status)
            }
        }
    }

    @Test("Only administrators upload")
    func uploadNeedsAnAdministrator() async throws {
        try await StreamServer.run { server in
            let path = Routes.adminContent(level) + "?version=1"
            let answer = try await server.send(.PUT, path)
            #expect(answer.status == 401)
            #expect(try server.contentFiles().isEmpty)
        }
    }

    @Test("What is too large, or of no length, is refused before a byte of it is read")
    func earlyRefusals() async throws {
        try await StreamServer.run(contentLengthMax: 5 << 20) { server in
            for (length, status, code) in [
                ("content-length: 5242881", "413", "content_too_large"),
                ("content-length: 9000000000000000000", "413", "content_too_large"),
                ("transfer-encoding: chunked", "411", "content_length_required"),
            ] {
                let connection = try RawConnection(port: server.port)
                connection.send(try server.uploadHead(of: level, length: length))
                let answer = await connection.read(until: code)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
                #expect(answer.contains(code))
                #expect(answer.lowercased().contains("connection: close"))
            }
        }
    }

    @Test("An upload that is cut off in the middle is nowhere to be seen")
    func cutOffUpload() async throws {
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

    @Test("A content is downloaded whole, in parts, and its head alone")
    func download() async throws {
        try await StreamServer.run { server in
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

    @Test("A range that is not there is 416, and one of something else is ignored")
    func conditions() async throws {
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

    @Test("A finished, refunded, unpaid, unknown or foreign transaction downloads nothing")
    func downloadRefusals() async throws {
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

    @Test("A file that is missing, or too short, is a failure of the service and not its end")
    func missingFile() async throws {
        try await StreamServer.run { server in
            try await server.host(bytes, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            let file = server.contentDirectory + "/\(digest)"
            try Data(bytes.dropLast()).write(to: URL(fileURLWithPath: file))
            #expect(try await server.ask(.GET, path).status == 500)
            try FileManager.default.removeItem(atPath: file)
            let missing = try await server.ask(.GET, path)
            #expect(missing.status == 500)
            #expect(try missing.decode(Problem.self).incident != nil)
            try await server.host(bytes, for: level)
            #expect(try await server.ask(.GET, path).body == bytes)
        }
    }

    @Test("A client that reads slowly holds as much as connections buffer, not the whole")
    func slowReader() async throws {
        let folder = ContentFolder()
        defer { folder.remove() }
        let storage = CountingStorage(storage: DiskContentStorage(directory: folder.path))
        try await StreamServer.run(contentStorage: storage) { server in
            let large = [UInt8](repeating: 7, count: 60 << 20)
            try await server.host(large, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            let connection = try RawConnection(port: server.port)
            connection.send(
                "GET \(path) HTTP/1.1\r\nhost: x\r\nauthorization: Bearer "
                    + "\(try server.token())\r\n\r\n"
            )
            #expect(await connection.read(until: "200").hasPrefix("HTTP/1.1 200 "))
            // It does not read on, and the others are served meanwhile.
            for _ in 1...5 {
                #expect(try await server.ask(.GET, path, [("range", "bytes=-1000")]).status == 206)
                #expect(try await server.ask(.GET, path).body == large)
            }
            let others: Int64 = 5 * (60 << 20) + 5000
            #expect(storage.count - others < 30 << 20)
        }
    }
}

/// A storage that counts the bytes that are read from it.
private final class CountingStorage: ContentStorage {
    private struct Reader: ContentReader {
        let reader: any ContentReader
        let storage: CountingStorage

        func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
            storage.bytesRead.withLock { $0 += Int64(count) }
            return try await reader.read(at: offset, count: count)
        }
    }

    private let storage: DiskContentStorage
    private let bytesRead = Mutex<Int64>(0)

    init(storage: DiskContentStorage) { self.storage = storage }

    var count: Int64 { bytesRead.withLock { $0 } }

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        try await storage.receive(bytes)
    }

    func open(_ digest: ContentDigest, length: Int64) async throws -> any ContentReader {
        Reader(reader: try await storage.open(digest, length: length), storage: self)
    }

    func removeLeftovers(
        unless isOnRecord: @Sendable (ContentDigest) async throws -> Bool
    ) async throws -> Int {
        try await storage.removeLeftovers(unless: isOnRecord)
    }
}

/// A storage that takes nothing in.
private struct FailingStorage: ContentStorage {
    let code: ContentStorageError.Code

    func receive<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes
    ) async throws -> any ReceivedContent where Bytes.Element == ByteBuffer {
        throw ContentStorageError(code, "as the test wants it")
    }

    func open(_ digest: ContentDigest, length: Int64) async throws -> any ContentReader {
        throw ContentStorageError(code, "as the test wants it")
    }

    func removeLeftovers(
        unless isOnRecord: @Sendable (ContentDigest) async throws -> Bool
    ) async throws -> Int { 0 }
}

extension StreamServer {
    /// Asks as an account, with headers, for an answer with headers.
    fileprivate func ask(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: [(String, String)] = []
    ) async throws -> StoreResponse {
        try await StoreHTTP.send(
            method,
            "http://127.0.0.1:\(port)\(path)",
            headers: headers + [("authorization", "Bearer \(try token())")]
        )
    }

    /// Asks as the administrator.
    fileprivate func administer(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> StoreResponse {
        try await StoreHTTP.send(
            method,
            "http://127.0.0.1:\(port)\(path)",
            headers: headers + [("authorization", "Bearer \(try administratorToken())")],
            body: body
        )
    }

    /// Uploads version 1.0 of a product's content.
    fileprivate func host(_ bytes: [UInt8], for productID: ProductID) async throws {
        let answer = try await administer(
            .PUT,
            Routes.adminContent(productID) + "?version=1.0",
            body: bytes
        )
        guard answer.status < 300 else { throw HarnessError(answer.text) }
    }

    /// The head of an upload.
    fileprivate func uploadHead(of productID: ProductID, length: String) throws -> String {
        "PUT \(Routes.adminContent(productID))?version=1 HTTP/1.1\r\nhost: x\r\n"
            + "authorization: Bearer \(try administratorToken())\r\n\(length)\r\n\r\n"
    }

    /// The files of the content directory.
    fileprivate func contentFiles() throws -> [String: [UInt8]] {
        try ContentFolder(path: contentDirectory).files()
    }
}
