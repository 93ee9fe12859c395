import EventTypes
import NIOHTTP1
import StoreAPI
import Synchronization
import Testing
import TestSupport

@testable import Fulfillment

/// A store of contents that stops answering does not delay a shutdown.
@Suite(.timeLimit(.minutes(10)))
struct ContentShutdownTests {
    private let level = ProductID(unchecked: "level.1")
    /// More bytes than connections buffer.
    private let bytes = [UInt8](repeating: 7, count: 24 << 20)

    /// Runs a test with a server whose store is behind a proxy, and returns the time that the
    /// server took to shut down afterwards.
    private func timeToShutDown(
        _ body: @escaping @Sendable (StreamServer, HTTPProxy) async throws -> Task<Void, any Error>
    ) async throws -> (time: Duration, left: [String: [UInt8]]) {
        let s3 = try await S3Store.start()
        let folder = ContentFolder()
        defer { folder.remove() }
        let proxy = try await HTTPProxy.start(inFrontOf: s3.endpoint)
        let storage = S3ContentStorage(s3, endpoint: proxy.url, spool: folder.path)
        let asked = Mutex<(task: Task<Void, any Error>, at: ContinuousClock.Instant)?>(nil)
        let time = try await using(storage) { storage in
            try await StreamServer.run(contentLengthMax: 64 << 20, contentStorage: storage) {
                let task = try await body($0, proxy)
                asked.withLock { $0 = (task, .now) }
            }
            let end = ContinuousClock.now
            let (task, start) = try #require(asked.withLock { $0 })
            try await task.value
            return start.duration(to: end)
        }
        let left = try folder.files()
        await proxy.cut()
        return (time, left)
    }

    @Test func anUploadThatItsStoreDoesNotTakeEndsWithTheService() async throws {
        let (time, left) = try await timeToShutDown { server, proxy in
            let put = proxy.hold(at: .beforeResponse("PUT /contents"))
            let upload = Task<Void, any Error> {
                let answer = try? await server.administer(
                    .PUT,
                    Routes.adminContent(level) + "?version=1",
                    body: [1, 2, 3]
                )
                // The answer may not arrive because of the shutdown. It is never a success.
                #expect(answer.map { $0.status == 503 } ?? true)
            }
            try await put.reached()
            return upload
        }
        #expect(time < .seconds(50))
        #expect(left.isEmpty)
    }

    @Test func aDownloadWhoseStoreSaysNothingMoreEndsWithTheService() async throws {
        let (time, _) = try await timeToShutDown { server, proxy in
            try await server.host(bytes, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let more = proxy.hold(at: .beforeResponse("GET /contents"), occurrence: 5)
            let path = Routes.content(level, of: TransactionID(number: 1))
            let connection = try server.beginDownload(path)
            // The store has sent more than the client got. A client that got nothing would be
            // refused.
            let head = try await connection.read(until: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 200"))
            try await more.reached()
            return Task {
                // The body is truncated: fewer bytes arrive than were announced.
                let rest = try await connection.read(until: "more than that")
                #expect(head.utf8.count + rest.utf8.count < bytes.count)
            }
        }
        #expect(time < .seconds(50))
    }

    @Test func aDownloadWhoseStoreDoesNotBeginToAnswerEndsWithTheService() async throws {
        let (time, _) = try await timeToShutDown { server, proxy in
            try await server.host([1, 2, 3], for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let head = proxy.hold(at: .beforeResponse("GET /contents"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            let download = Task<Void, any Error> {
                let answer = try? await server.ask(.GET, path)
                #expect(answer.map { $0.status == 503 } ?? true)
            }
            try await head.reached()
            return download
        }
        #expect(time < .seconds(50))
    }

    @Test func aDownloadThatItsClientDoesNotReadEndsWithTheService() async throws {
        let client = Mutex<RawConnection?>(nil)
        let (time, _) = try await timeToShutDown { server, _ in
            try await server.host(bytes, for: level)
            try await server.store.arrive(.sample(1, product: "level.1"))
            let path = Routes.content(level, of: TransactionID(number: 1))
            let connection = try server.beginDownload(path)
            client.withLock { $0 = connection }
            let answer = try await connection.read(until: "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            return Task {}
        }
        #expect(time < .seconds(50))
        #expect(client.withLock { $0 } != nil, "It is there, and reads nothing.")
    }
}
