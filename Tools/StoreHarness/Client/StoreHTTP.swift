import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
public import NIOHTTP1
import NIOPosix
import StoreAPI

/// A complete HTTP response.
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
    /// - Parameter type: The expected type.
    /// - Returns: The value.
    /// - Throws: ``HarnessError`` with the body if it is not of this type.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw HarnessError("The answer (\(status)) is not \(type): \(text) — \(error)")
        }
    }
}

/// The single HTTP client of tests and tools.
///
/// It lives as long as the process.
public enum StoreHTTP {
    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(60)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2048
        configuration.connectionPool.idleTimeout = .seconds(20)
        // The caller decides about retries, because tests examine each of them.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
    }()

    /// Sends a request and reads the complete response.
    ///
    /// - Parameters:
    ///   - method: GET, POST, …
    ///   - url: The URL.
    ///   - headers: The headers, in addition to those that HTTP needs.
    ///   - body: The body, if any.
    ///   - timeout: The time limit for the complete response.
    /// - Returns: The response with any status.
    /// - Throws: An error if there is no response in time.
    public static func send(
        _ method: HTTPMethod,
        _ url: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil,
        timeout: Duration = .seconds(60)
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
