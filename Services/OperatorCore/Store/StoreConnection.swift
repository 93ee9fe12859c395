package import AsyncHTTPClient
import Callbacks
package import Foundation
import NIOCore
package import NIOHTTP1
import StoreAPI
import StoreTracing

/// Requests to one service, with one token.
///
/// A refusal becomes an ``OperatorError`` that holds the problem's own words; a service that is
/// away, one that is worth repeating.
package struct StoreConnection: Sendable {
    /// The name of the service.
    package let service: String
    /// The address of the service, without a slash at its end.
    package let baseURL: String
    /// `nil` if no token is needed.
    let token: String?
    /// The HTTP client that sends the requests.
    var clients = Self.clients

    /// The HTTP client of all connections of the process; they end with the process.
    ///
    /// Looking up the name of a service that is gone may take half a minute; requests to other
    /// services do not wait for that.
    private static let clients: HostClients = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        // A refused connection fails at once; commands that wait for a service ask again.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HostClients(configuration: configuration)
    }()

    /// Makes a connection.
    package init(service: String, baseURL: String, token: String?) {
        self.service = service
        self.baseURL = baseURL
        self.token = token
    }

    /// Makes a connection with an HTTP client of its own.
    init(service: String, baseURL: String, token: String?, clients: HostClients) {
        self.init(service: service, baseURL: baseURL, token: token)
        self.clients = clients
    }

    /// The size of the largest answer that is read, which is an exported catalog.
    private static let answerBytesMax = 64 * 1024 * 1024

    /// The content of a request beyond its path.
    package struct Content: Sendable {
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body: Data?

        /// Makes the content of a request.
        package init(
            query: [(name: String, value: String)] = [],
            headers: [(name: String, value: String)] = [],
            body: Data? = nil
        ) {
            self.query = query
            self.headers = headers
            self.body = body
        }

        /// Nothing.
        package static let none = Content()

        /// A value as JSON.
        package static func json(
            _ value: some Encodable,
            headers: [(name: String, value: String)] = []
        ) throws(OperatorError) -> Content {
            do {
                return Content(headers: headers, body: try JSONEncoder().encode(value))
            } catch {
                throw OperatorError(.failed, "The request cannot be written as JSON: \(error)")
            }
        }
    }

    /// Sends a request and reads the answer's JSON.
    package func send<Answer: Decodable>(
        _ method: HTTPMethod,
        _ path: String,
        _ content: Content = .none,
        as type: Answer.Type
    ) async throws(OperatorError) -> Answer {
        try decode(type, from: try await send(method, path, content))
    }

    /// Sends a request and reads the answer's bytes.
    package func send(
        _ method: HTTPMethod,
        _ path: String,
        _ content: Content = .none,
        timeout: Duration = .seconds(30)
    ) async throws(OperatorError) -> Data {
        try await exchange(method, path, content, timeout: timeout).body
    }

    /// Reads a document with its entity tag, so that it can be changed only as it was read.
    package func read<Answer: Decodable>(
        _ path: String,
        as type: Answer.Type
    ) async throws(OperatorError) -> (document: Answer, tag: String) {
        let (body, headers) = try await exchange(.GET, path, .none, timeout: .seconds(30))
        guard let tag = headers.first(name: "ETag") else {
            throw OperatorError(
                .failed,
                """
                \(service) sent an answer without an ETag, so it cannot be changed safely. Check that \
                \(service) has the version of this command, and that no proxy removes the header.
                """
            )
        }
        return (try decode(type, from: body), tag)
    }

    private func exchange(
        _ method: HTTPMethod,
        _ path: String,
        _ content: Content,
        timeout: Duration
    ) async throws(OperatorError) -> (body: Data, headers: HTTPHeaders) {
        let response = try await execute(request(method, path, content), timeout: timeout)
        let body = try await read(response)
        guard (200..<300).contains(response.status.code) else {
            throw refusal(status: Int(response.status.code), body: body)
        }
        return (body, response.headers)
    }

    private func decode<Answer: Decodable>(
        _ type: Answer.Type,
        from body: Data
    ) throws(OperatorError) -> Answer {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw OperatorError(
                .failed,
                "\(service) sent an answer that this version does not understand: \(error)"
            )
        }
    }

    /// Opens a stream of server-sent events.
    package func stream(
        _ path: String,
        resumingAfter lastEventID: String?
    ) async throws(OperatorError) -> HTTPClientResponse.Body {
        var content = Content(headers: [("Accept", "text/event-stream")])
        if let lastEventID { content.headers.append(("Last-Event-ID", lastEventID)) }
        let response = try await execute(request(.GET, path, content), timeout: .seconds(3_600))
        guard response.status == .ok else {
            throw refusal(status: Int(response.status.code), body: try await read(response))
        }
        return response.body
    }

    private func request(
        _ method: HTTPMethod,
        _ path: String,
        _ content: Content
    ) throws(OperatorError) -> HTTPClientRequest {
        guard var components = URLComponents(string: baseURL + path) else {
            throw OperatorError(.failed, "\(baseURL) is not a URL.")
        }
        if !content.query.isEmpty {
            components.queryItems = content.query.map {
                URLQueryItem(name: $0.name, value: $0.value)
            }
        }
        var request = HTTPClientRequest(url: components.string ?? baseURL + path)
        request.method = method
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let trace = Self.trace { request.headers.add(name: "traceparent", value: "\(trace)") }
        for header in content.headers {
            request.headers.add(name: header.name, value: header.value)
        }
        if let body = content.body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return request
    }

    private func execute(
        _ request: HTTPClientRequest,
        timeout: Duration
    ) async throws(OperatorError) -> HTTPClientResponse {
        do {
            return try await clients.execute(request, timeout: timeout) { $0 }
        } catch {
            throw unreachable(error)
        }
    }

    private func read(_ response: HTTPClientResponse) async throws(OperatorError) -> Data {
        do {
            return Data(buffer: try await response.body.collect(upTo: Self.answerBytesMax))
        } catch {
            throw unreachable(error)
        }
    }

    private func unreachable(_ error: any Error) -> OperatorError {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
        return OperatorError(
            .unavailable,
            "\(service) cannot be reached at \(baseURL): \(reason ?? "\(error)")."
        )
    }

    private func refusal(status: Int, body: Data) -> OperatorError {
        let code: OperatorError.Code =
            switch status {
            case 401, 403: .refusedCredentials
            case 429, 502, 503, 504: .unavailable
            default: .failed
            }
        // An answer that is not a problem document comes from a proxy in front of the service.
        guard let problem = try? JSONDecoder().decode(Problem.self, from: body) else {
            return OperatorError(
                code,
                "\(service) answered \(status) without saying why.",
                status: status
            )
        }
        var text = "\(problem.title) (\(problem.status) \(problem.code))\n\(problem.detail)"
        if let price = problem.currentPrice { text += "\nThe price is \(price)." }
        if let incident = problem.incident {
            text += "\nSearch the log of \(service) for the incident \(incident)."
        }
        return OperatorError(code, text, status: status, problemCode: problem.code)
    }
}

extension Data {
    fileprivate init(buffer: ByteBuffer) { self.init(buffer.readableBytesView) }
}
