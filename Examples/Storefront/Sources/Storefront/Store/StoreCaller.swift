import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Calls the store for a buyer.
struct StoreCaller: Sendable {
    /// The longest answer that is held in memory.
    static let answerLengthMax = 8 << 20
    /// The time within which an answer has to begin.
    static let patience: TimeAmount = .seconds(10)

    let client: HTTPClient
    let addresses: StoreAddresses
    let signer: TokenSigner

    /// Makes the HTTP client of a storefront.
    static func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        // Tokens are sent only to the configured addresses.
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(3)
        // A stream has a heartbeat every 15 seconds; one that is silent for longer is dead.
        configuration.timeout.read = .seconds(40)
        // The page decides what to repeat, and under which key.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each open page holds a connection for its stream.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a request in an account's name.
    ///
    /// - Returns: The answer, with any status and before its body.
    /// - Throws: ``StorefrontProblem`` if the service cannot be reached or refuses this server.
    func answer(to call: StoreCall, for account: String) async throws -> HTTPClientResponse {
        let token = try await signer.token(subject: account, at: .now)
        return try await send(call, token: token)
    }

    /// Sends a request with a token.
    func send(_ call: StoreCall, token: String?) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: addresses[call.service] + call.path)
        request.method = call.method
        request.headers = call.headers
        if let token {
            request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
        }
        if let body = call.body { request.body = .bytes(body) }
        let answer: HTTPClientResponse
        do {
            answer = try await client.execute(request, timeout: Self.patience)
        } catch let error as HTTPClientError where Self.isSlow(error) {
            throw StorefrontProblem.slow(call.service)
        } catch {
            try Task.checkCancellation()
            throw StorefrontProblem.away(call.service)
        }
        switch answer.status {
        case .unauthorized: throw StorefrontProblem.tokenRefused(by: call.service)
        // What a proxy says in front of a service that is away.
        case .badGateway: throw StorefrontProblem.away(call.service)
        case .gatewayTimeout: throw StorefrontProblem.slow(call.service)
        default: return answer
        }
    }

    /// Sends a request and decodes its answer.
    ///
    /// - Throws: ``StorefrontProblem``; for a refusal of the store, with the store's own words.
    func value<Value: Decodable>(
        of call: StoreCall,
        for account: String,
        as type: Value.Type = Value.self
    ) async throws -> Value {
        let answer = try await answer(to: call, for: account)
        let body = try await Self.body(of: answer, from: call.service)
        guard (200..<300).contains(answer.status.code) else {
            throw StorefrontProblem.refused(
                by: call.service,
                Int(answer.status.code),
                Data(body.readableBytesView)
            )
        }
        return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }

    /// Reads a whole body.
    static func body(
        of answer: HTTPClientResponse,
        from service: StoreService
    ) async throws -> ByteBuffer {
        do {
            return try await answer.body.collect(upTo: answerLengthMax)
        } catch {
            try Task.checkCancellation()
            throw StorefrontProblem.away(service)
        }
    }

    private static func isSlow(_ error: HTTPClientError) -> Bool {
        error == .deadlineExceeded || error == .readTimeout
    }
}
