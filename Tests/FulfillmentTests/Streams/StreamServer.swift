import AsyncHTTPClient
import Crypto
import EventTypes
import Foundation
import Hummingbird
import Logging
import Messaging
import NIOCore
import NIOHTTP1
import ServiceKit
import ServiceLifecycle
import StoreAPI
import Synchronization
import TestSupport

@testable import Fulfillment

let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

/// The routes of `fulfillment` on a real socket, over the database of a test.
///
/// The test itself passes events to the hub.
final class StreamServer: Sendable {
    let port: Int
    let store: FulfillmentDatabase
    let hub: QueueHub
    let group: ServiceGroup
    /// The directory of hosted contents.
    let contentDirectory: String
    let downloads: DownloadPermits
    private let signingKey: P256.Signing.PrivateKey
    private let handedOn = Mutex(0)

    /// Runs a test against a server.
    static func run(
        limits: QueueHub.Limits = QueueHub.Limits(),
        contentLengthMax: Int64 = 64 << 20,
        contentStorage: (any ContentStorage)? = nil,
        downloads: DownloadPermits.Limits = DownloadPermits.Limits(),
        _ body: @escaping @Sendable (StreamServer) async throws -> Void
    ) async throws {
        try await withFulfillment { store in
            let key = P256.Signing.PrivateKey()
            let directory = FileManager.default.temporaryDirectory.appending(
                path: UUID().uuidString
            )
            let keys = directory.appending(path: appID.rawValue)
            try FileManager.default.createDirectory(at: keys, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            try key.publicKey.pemRepresentation.write(
                to: keys.appending(path: "key.pem"),
                atomically: true,
                encoding: .utf8
            )
            let administrators = directory.appending(path: "administrators")
            try FileManager.default.createDirectory(
                at: administrators,
                withIntermediateDirectories: true
            )
            try key.publicKey.pemRepresentation.write(
                to: administrators.appending(path: "operator.pem"),
                atomically: true,
                encoding: .utf8
            )
            try Data(#"{"scopes": ["merchandiser", "read", "support"]}"#.utf8).write(
                to: administrators.appending(path: "operator.json")
            )
            let router = storeRouter(
                authenticator: try Authenticator(
                    appKeysDirectory: directory.path,
                    adminKeysDirectory: administrators.path,
                    now: store.clock.machineNow
                ),
                readiness: [],
                logger: quiet
            )
            let hub = QueueHub(limits: limits)
            let finishes = RequestBatcher<FinishRequest, FinishOutcome>(
                name: "finishes",
                logger: quiet
            ) {
                try await store.finishing.finish($0)
            }
            HistoryRoutes(store: store.reads).add(to: router)
            UnfinishedRoutes(store: UnfinishedStore(client: store.client), now: store.clock.now)
                .add(to: router)
            DeferredRoutes(store: DeferredStore(client: store.client)).add(to: router)
            FulfillmentRoutes(hub: hub, store: store.reads, finishes: finishes, logger: quiet)
                .add(to: router)
            let contentDirectory = directory.appending(path: "content").path
            let downloads = DownloadPermits(limits: downloads)
            HostedContentRoutes(
                handler: store.contents(
                    contentStorage ?? DiskContentStorage(directory: contentDirectory)
                ),
                permits: downloads,
                lengthMax: contentLengthMax,
                logger: quiet
            ).add(to: router)
            let (ports, port) = AsyncStream<Int>.makeStream()
            let server = StoreHTTPServer(
                router: router,
                settings: HTTPSettings(port: 0),
                logger: quiet,
                didListen: { port.yield($0) }
            )
            let group = ServiceGroup(services: [finishes, server], logger: quiet)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                for await port in ports {
                    try await body(
                        StreamServer(
                            port: port,
                            store: store,
                            hub: hub,
                            group: group,
                            contentDirectory: contentDirectory,
                            downloads: downloads,
                            signingKey: key
                        )
                    )
                    break
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }
    }

    private init(
        port: Int,
        store: FulfillmentDatabase,
        hub: QueueHub,
        group: ServiceGroup,
        contentDirectory: String,
        downloads: DownloadPermits,
        signingKey: P256.Signing.PrivateKey
    ) {
        self.port = port
        self.store = store
        self.hub = hub
        self.group = group
        self.contentDirectory = contentDirectory
        self.downloads = downloads
        self.signingKey = signingKey
    }

    /// Passes on to the hub the events published since the last time, as the topic would.
    func handOn(skipping: Int = 0) async throws {
        let events = try await store.outbox()
        let first = handedOn.withLock { count in
            defer { count = events.count }
            return count
        }
        hub.receive(Array(events.dropFirst(first + skipping)))
    }

    /// Returns a token of an account.
    func token(_ account: String = "alice") throws -> String {
        try token(of: account, issuer: appID.rawValue, audience: "counterfoil", keyID: "key")
    }

    /// Returns a token of the administrator.
    func administratorToken() throws -> String {
        try token(
            of: "operator",
            issuer: "administrator",
            audience: "counterfoil-admin",
            keyID: "operator"
        )
    }

    private func token(
        of subject: String,
        issuer: String,
        audience: String,
        keyID: String
    ) throws -> String {
        let seconds = store.clock.now().millisecondsSinceEpoch / 1000
        let header = #"{"alg":"ES256","kid":"\#(keyID)","typ":"JWT"}"#
        let claims = """
            {"iss":"\(issuer)","sub":"\(subject)","aud":"\(audience)","iat":\(seconds),\
            "exp":\(seconds + 3600)}
            """
        let signed = "\(StrictBase64.text(header.utf8)).\(StrictBase64.text(claims.utf8))"
        let signature = try signingKey.signature(for: Data(signed.utf8))
        return "\(signed).\(StrictBase64.text(signature.rawRepresentation))"
    }

    /// Sends a request whose response ends at once.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        account: String = "alice",
        headers: [(String, String)] = []
    ) async throws -> (status: Int, body: Data) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers.add(name: "authorization", value: "Bearer \(try token(account))")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), Data(body.readableBytesView))
    }

    /// Opens a stream.
    func connect(_ account: String = "alice", after id: String? = nil) async throws -> EventReader {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(Routes.queue)")
        request.headers.add(name: "authorization", value: "Bearer \(try token(account))")
        if let id { request.headers.add(name: "last-event-id", value: id) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        guard response.status == .ok else {
            throw HarnessError("The stream was refused: \(response.status)")
        }
        return EventReader(body: response.body.makeAsyncIterator())
    }
}

/// Reads the events of a stream one by one.
struct EventReader {
    struct Event {
        var id: String?
        var name = ""
        var data = ""
        var retry: String?

        var change: QueueChanged {
            get throws { try JSONDecoder().decode(QueueChanged.self, from: Data(data.utf8)) }
        }
    }

    fileprivate(set) var body: HTTPClientResponse.Body.AsyncIterator
    private var buffer: [UInt8] = []

    init(body: HTTPClientResponse.Body.AsyncIterator) { self.body = body }

    /// Returns the next event, skipping comments, or `nil` when the stream has ended.
    mutating func next() async throws -> Event? {
        while let block = try await nextBlock() {
            var event = Event()
            var isEvent = false
            for line in block.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                let value = parts.count == 2 ? String(parts[1].dropFirst()) : ""
                switch line.first == ":" ? "" : parts[0] {
                case "id": event.id = value
                case "event": event.name = value
                case "data": event.data += value
                case "retry": event.retry = value
                default: continue
                }
                isEvent = true
            }
            if isEvent { return event }
        }
        return nil
    }

    private mutating func nextBlock() async throws -> String? {
        let end = Array("\n\n".utf8)
        while true {
            if let range = buffer.firstRange(of: end) {
                defer { buffer.removeSubrange(..<range.upperBound) }
                return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
            }
            guard let bytes = try await body.next() else { return nil }
            buffer.append(contentsOf: bytes.readableBytesView)
        }
    }
}
