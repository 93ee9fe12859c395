import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
public import NIOHTTP1
import NIOPosix
import StoreAPI

/// An HTTP answer, whole.
public struct StoreResponse: Sendable {
    /// The status code.
    public var status: Int
    /// The headers.
    public var headers: HTTPHeaders
    /// The body.
    public var body: [UInt8]

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body.
    ///
    /// - Parameter type: What it should hold.
    /// - Returns: The value.
    /// - Throws: ``HarnessError`` with the body, when it is something else.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw HarnessError("The answer (\(status)) is not \(type): \(text) — \(error)")
        }
    }
}

/// The one HTTP client of tests and tools.
///
/// It lives as long as the process.
public enum StoreHTTP {
    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(10)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2048
        configuration.connectionPool.idleTimeout = .seconds(20)
        // Retrying is the caller's decision: each retry is something that the tests are about.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
    }()

    /// Sends a request and collects the answer.
    ///
    /// - Parameters:
    ///   - method: GET, POST, …
    ///   - url: Where to.
    ///   - headers: Beside those that HTTP needs.
    ///   - body: The body, if any.
    ///   - timeout: For everything.
    /// - Returns: The whole answer, whatever its status.
    /// - Throws: An error when there is no answer in time.
    public static func send(
        _ method: HTTPMethod,
        _ url: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil,
        timeout: Duration = .seconds(15)
    ) async throws -> StoreResponse {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers {
            request.headers.add(name: name, value: value)
        }
        if let body {
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await client.execute(
            request,
            timeout: .milliseconds(timeout.milliseconds)
        )
        let buffer = try await response.body.collect(upTo: 64 << 20)
        return StoreResponse(
            status: Int(response.status.code),
            headers: response.headers,
            body: Array(buffer.readableBytesView)
        )
    }
}
