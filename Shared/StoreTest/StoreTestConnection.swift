import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI

/// The requests of a test session.
struct StoreTestConnection: Sendable {
    let accountToken: @Sendable (AccountID) async throws -> String
    let administratorToken: @Sendable () async throws -> String

    private static let answerBytesMax = 16 << 20

    /// Sends a request, as the account or as an administrator.
    ///
    /// - Throws: ``StoreTestError``, or an error of the network or of a token.
    func send<Answer: Decodable>(
        _ method: HTTPMethod,
        _ url: String,
        _ body: (any Encodable)? = nil,
        by account: AccountID? = nil,
        as type: Answer.Type
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        let token: String
        if let account {
            token = try await accountToken(account)
        } else {
            token = try await administratorToken()
        }
        request.headers.add(name: "authorization", value: "Bearer \(token)")
        request.headers.add(name: "idempotency-key", value: UUID().uuidString)
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(15))
        let buffer = try await response.body.collect(upTo: Self.answerBytesMax)
        let data = Data(buffer.readableBytesView)
        guard (200..<300).contains(response.status.code) else {
            // An answer without a problem comes from a proxy, and still has its status.
            let problem = try? JSONDecoder().decode(Problem.self, from: data)
            throw StoreTestError.refused(
                status: Int(response.status.code),
                code: problem?.code ?? "",
                detail: problem?.detail ?? ""
            )
        }
        return try JSONDecoder().decode(type, from: data)
    }
}
