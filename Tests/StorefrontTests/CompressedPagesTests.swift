import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import storefront

@Suite struct CompressedPagesTests {
    /// The folder of the real page.
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Examples/Storefront/Pages").path

    private func withClient(
        _ act: @Sendable @escaping (any TestClientProtocol) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test")
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: CompressedPages(folder: Self.folder, logger: logger))
        router.add(
            middleware: FileMiddleware(Self.folder, searchForIndexHtml: true, logger: logger)
        )
        router.get("/api/health") { _, _ in "ready" }
        try await Application(router: router).test(.router) { client in try await act(client) }
    }

    @Test(arguments: ["/", "/index.html", "/main.js", "/storefront.css", "/icon.svg"])
    func aBrowserGetsAFileCompressedAndOnce(_ path: String) async throws {
        try await withClient { client in
            let headers: HTTPFields = [.acceptEncoding: "br, gzip;q=0.8"]
            let plain = try await client.execute(uri: path, method: .get, headers: [:])
            let answer = try await client.execute(uri: path, method: .get, headers: headers)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentEncoding] == "gzip")
            #expect(answer.headers[.vary] == "Accept-Encoding")
            #expect(answer.headers[.contentLength] == "\(answer.body.readableBytes)")
            #expect(Array(answer.body.readableBytesView.prefix(2)) == [0x1f, 0x8b])
            #expect(answer.body.readableBytes < plain.body.readableBytes)
            #expect(answer.headers[.contentType]?.isEmpty == false)

            let eTag = try #require(answer.headers[.eTag])
            var known = headers
            known[.ifNoneMatch] = "\"old\", \(eTag)"
            let again = try await client.execute(uri: path, method: .get, headers: known)
            #expect(again.status == .notModified)
            #expect(again.headers[.eTag] == eTag)
            #expect(again.body.readableBytes == 0)

            var stale = headers
            stale[.ifNoneMatch] = "\"old\""
            let fresh = try await client.execute(uri: path, method: .get, headers: stale)
            #expect(fresh.status == .ok)
        }
    }

    @Test(arguments: ["", "br", "gzip;q=0", "gzip; q=0.0", "gzipped", "identity, deflate"])
    func othersGetAFileAsItIs(_ encodings: String) async throws {
        try await withClient { client in
            let answer = try await client.execute(
                uri: "/main.js",
                method: .get,
                headers: [.acceptEncoding: encodings]
            )
            let file = try Data(contentsOf: URL(fileURLWithPath: Self.folder + "/main.js"))
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentEncoding] == nil)
            #expect(answer.headers[.vary] == "Accept-Encoding")
            #expect(Data(answer.body.readableBytesView) == file)
        }
    }

    @Test func aHeadHasTheLengthWithoutTheBody() async throws {
        try await withClient { client in
            let headers: HTTPFields = [.acceptEncoding: "gzip"]
            let whole = try await client.execute(uri: "/main.js", method: .get, headers: headers)
            let head = try await client.execute(uri: "/main.js", method: .head, headers: headers)
            #expect(head.headers[.contentLength] == "\(whole.body.readableBytes)")
            #expect(head.headers[.contentEncoding] == "gzip")
            #expect(head.body.readableBytes == 0)
        }
    }

    @Test func aPartOfAFileIsNotCompressed() async throws {
        try await withClient { client in
            let answer = try await client.execute(
                uri: "/main.js",
                method: .get,
                headers: [.acceptEncoding: "gzip", .range: "bytes=0-9"]
            )
            #expect(answer.status == .partialContent)
            #expect(answer.headers[.contentEncoding] == nil)
            #expect(answer.body.readableBytes == 10)
        }
    }

    @Test func dataIsNeverCompressed() async throws {
        try await withClient { client in
            let answer = try await client.execute(
                uri: "/api/health",
                method: .get,
                headers: [.acceptEncoding: "gzip"]
            )
            #expect(answer.headers[.contentEncoding] == nil)
            #expect(answer.headers[.vary] == nil)
            #expect(String(buffer: answer.body) == "ready")
        }
    }

    @Test func aFolderThatCannotBeReadStopsNothing() async throws {
        let logger = Logger(label: "test")
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: CompressedPages(folder: "/nowhere", logger: logger))
        router.get("/") { _, _ in "here" }
        try await Application(router: router).test(.router) { client in
            let answer = try await client.execute(
                uri: "/",
                method: .get,
                headers: [.acceptEncoding: "gzip"]
            )
            #expect(answer.status == .ok)
            #expect(String(buffer: answer.body) == "here")
        }
    }

    @Test func theFirstViewIsSmallAndNamesAllItsFiles() throws {
        func text(_ file: String) throws -> String {
            try String(contentsOfFile: "\(Self.folder)/\(file)", encoding: .utf8)
        }
        let page = try text("index.html")
        let named = Set(
            page.matches(of: #/(?:href|src)="/([a-z]+\.(?:js|css|svg))"/#).map { String($0.1) }
        )
        // The modules that main.js cannot do without; others are loaded when somebody needs them.
        var needed: Set<String> = []
        var left = ["main.js"]
        while let file = left.popLast() {
            guard needed.insert(file).inserted else { continue }
            left += try text(file).matches(of: #/from "\./([a-z]+\.js)"/#).map { String($0.1) }
        }
        // A browser asks for all of them at once, without reading one to find the next.
        #expect(named.filter { $0.hasSuffix(".js") } == needed)
        let size = try named.union(["index.html"]).reduce(0) { try $0 + text($1).utf8.count }
        #expect(size < 60_000)
    }
}
