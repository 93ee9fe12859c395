import AsyncHTTPClient
import Crypto
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI
import Synchronization
import TestSupport

@testable import PaymentQueue

/// A store with one content, whose answers go wrong in the ways that a test asks for.
final class Origin: Sendable {
    /// A fault of one answer.
    enum Fault: Sendable {
        /// There is none.
        case noAnswer
        case status(UInt)
        case problem(UInt, String)
        /// The connection is lost after some bytes.
        case cut(after: Int)
        /// After some bytes nothing comes any more.
        case hang(after: Int)
        case ignoredRange
        /// There are more bytes than there should be.
        case excess
    }

    /// A request that was received.
    struct Request: Sendable {
        var range: String?
        var ifRange: String?
        var authorization: String?
    }

    struct ConnectionLost: Error {}

    private struct State {
        var faults: [Fault] = []
        var requests: [Request] = []
        var waits: [Duration] = []
        var tokens = 0
        var lacksToken = false
        var time: Duration = .zero
    }

    let bytes: [UInt8]
    let digest: ContentDigest
    let directory = NSTemporaryDirectory() + "/counterfoil-download-" + UUID().uuidString
    private let state = Mutex(State())

    init(bytes: [UInt8]) {
        self.bytes = bytes
        digest = ContentDigest(bytes: SHA256.hash(data: bytes))
    }

    /// The faults of the next answers, one after another.
    var faults: [Fault] {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// Whether there is no token at the first time of asking.
    var lacksToken: Bool {
        get { state.withLock { $0.lacksToken } }
        set { state.withLock { $0.lacksToken = newValue } }
    }

    var requests: [Request] { state.withLock { $0.requests } }
    /// The waits that were asked for; none takes time.
    var waits: [Duration] { state.withLock { $0.waits } }

    /// A download of the content, as a new process would make it.
    func download(to directory: String? = nil) -> ContentDownload {
        ContentDownload(
            url: "http://origin.example/content",
            length: Int64(bytes.count),
            digest: digest,
            directory: directory ?? self.directory,
            token: { try self.nextToken() },
            fetch: { try await self.answer($0) },
            reportInterval: .zero,
            surroundings: ContentDownload.Surroundings(
                // Each look at the clock takes a while, so that there is a rate.
                now: {
                    self.state.withLock {
                        $0.time += .milliseconds(300); return $0.time
                    }
                },
                sleep: { wait in self.state.withLock { $0.waits.append(wait) } },
                jitter: { 1 }
            )
        )
    }

    /// The files there are.
    var files: [String] {
        // A directory that is not there has none.
        (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? []
    }

    /// The length of the part of the content that is there.
    var partLength: Int? {
        FileManager.default.contents(atPath: "\(directory)/\(digest).part")?.count
    }

    /// Whether the content is there, as it should be, and nothing else.
    var isDownloaded: Bool {
        files == [digest.rawValue]
            && FileManager.default.contents(atPath: "\(directory)/\(digest)") == Data(bytes)
    }

    /// Leaves a part as another process would.
    func writePart(_ bytes: [UInt8]) throws {
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: URL(fileURLWithPath: "\(directory)/\(digest).part"))
    }

    private func nextToken() throws -> String {
        try state.withLock { state in
            state.tokens += 1
            defer { state.lacksToken = false }
            if state.lacksToken { throw ConnectionLost() }
            return "token-\(state.tokens)"
        }
    }

    private func answer(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let range = request.headers.first(name: "range")
        let fault = state.withLock { state -> Fault? in
            state.requests.append(
                Request(
                    range: range,
                    ifRange: request.headers.first(name: "if-range"),
                    authorization: request.headers.first(name: "authorization")
                )
            )
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        switch fault {
        case .noAnswer:
            throw ConnectionLost()
        case .status(let code):
            return HTTPClientResponse(status: HTTPResponseStatus(statusCode: Int(code)))
        case .problem(let code, let name):
            let problem = Problem(code: name, title: name, status: Int(code), detail: "No.")
            return HTTPClientResponse(
                status: HTTPResponseStatus(statusCode: Int(code)),
                body: .bytes(ByteBuffer(bytes: try JSONEncoder().encode(problem)))
            )
        case .cut, .hang, .ignoredRange, .excess, nil:
            return content(range: range, fault)
        }
    }

    private func content(range: String?, _ fault: Fault?) -> HTTPClientResponse {
        var offset = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        if case .ignoredRange = fault { offset = 0 }
        var headers: HTTPHeaders = ["etag": "\"\(digest)\""]
        if offset > 0 {
            headers.add(
                name: "content-range",
                value: "bytes \(offset)-\(bytes.count - 1)/\(bytes.count)"
            )
        }
        var rest = Array(bytes[offset...])
        if case .excess = fault { rest.append(0) }
        var limit = rest.count
        if case .cut(let count) = fault { limit = count }
        if case .hang(let count) = fault { limit = count }
        let (pieces, sender) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        for start in stride(from: 0, to: limit, by: 4096) {
            sender.yield(ByteBuffer(bytes: rest[start..<min(start + 4096, limit)]))
        }
        switch fault {
        case .cut: sender.finish(throwing: ConnectionLost())
        case .hang: break
        default: sender.finish()
        }
        return HTTPClientResponse(
            status: offset > 0 ? .partialContent : .ok,
            headers: headers,
            body: .stream(pieces)
        )
    }
}
