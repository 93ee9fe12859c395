public import Contracts
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Serves a service's contract over HTTP: its own API, the API of the whole store, and the events
/// published on the topics.
///
/// The routes need no token. Nothing in the contract is secret, and those who write a client, set
/// up a gateway or test have no token yet.
public struct ContractRoutes: Sendable {
    private let service: Contract.Service
    private let documents = Documents()

    /// Makes the routes of a service.
    public init(of service: Contract.Service) { self.service = service }

    /// Adds the routes.
    public func add(to router: StoreRouter) {
        let service = service
        add("/openapi.json", to: router) { try Contract.openAPI(of: service) }
        add("/openapi/store.json", to: router) { try Contract.openAPI() }
        add("/asyncapi.json", to: router) { try Contract.asyncAPI() }
    }

    private func add(
        _ path: String,
        to router: StoreRouter,
        make: @escaping @Sendable () throws -> [UInt8]
    ) {
        router.open.get(RouterPath(path)) { [documents] request, _ in
            let document = try documents.document(path, make: make)
            var headers: HTTPFields = [.eTag: document.tag, .cacheControl: "no-cache"]
            if document.isNamed(by: request.headers[.ifNoneMatch]) {
                return Response(status: .notModified, headers: headers)
            }
            headers[.contentType] = "application/json"
            return Response(
                status: .ok,
                headers: headers,
                body: ResponseBody(byteBuffer: document.bytes)
            )
        }
    }
}

/// The documents that were requested, each built once.
private final class Documents: Sendable {
    struct Document: Sendable {
        let bytes: ByteBuffer
        let tag: String

        init(_ bytes: [UInt8]) {
            self.bytes = ByteBuffer(bytes: bytes)
            let digits = SHA256.hash(data: bytes).prefix(16).map { byte in
                String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
            }
            tag = "\"\(digits.joined())\""
        }

        /// Whether a client that sends this `If-None-Match` already has the document.
        func isNamed(by ifNoneMatch: String?) -> Bool {
            ifNoneMatch.map { $0 == "*" || $0.contains(tag) } ?? false
        }
    }

    private let made = Mutex<[String: Document]>([:])

    func document(_ path: String, make: () throws -> [UInt8]) throws -> Document {
        try made.withLock { made in
            if let document = made[path] { return document }
            let document = Document(try make())
            made[path] = document
            return document
        }
    }
}
