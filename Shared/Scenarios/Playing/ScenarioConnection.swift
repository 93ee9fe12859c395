import AsyncHTTPClient
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI

/// Requests to the store beside those of the devices.
struct ScenarioConnection: Sendable {
    /// The sender of a request.
    enum Sender: Sendable {
        case administrator
        case account(AccountID)
        case nobody
    }

    /// An answer that is no success.
    struct Refusal: Error, CustomStringConvertible {
        let status: Int
        /// The problem's code; empty if the answer has none.
        let code: String
        let detail: String

        var description: String {
            code.isEmpty ? "the store answered \(status)" : "refused with \(code): \(detail)"
        }
    }

    private struct Answer {
        let status: Int
        let bytes: [UInt8]
    }

    let store: ScenarioStore
    let wait: ScenarioWait

    /// The largest answer that is read.
    private static let answerBytesMax = 16 << 20

    /// Sends a request and repeats it until the store answers, and returns the value of the answer.
    ///
    /// - Throws: ``Refusal``, or ``StepFailure`` without an answer in time.
    func send<Answer: Decodable>(
        _ method: HTTPMethod,
        _ url: String,
        by sender: Sender,
        _ body: (any Encodable)? = nil,
        key: String? = nil,
        as type: Answer.Type
    ) async throws -> Answer {
        let bytes = try await send(method, url, by: sender, body, key: key)
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw StepFailure("\(method) \(url) was answered with something else: \(error)")
        }
    }

    /// Sends a request and repeats it until the store answers.
    ///
    /// - Throws: ``Refusal``, or ``StepFailure`` without an answer in time.
    @discardableResult
    func send(
        _ method: HTTPMethod,
        _ url: String,
        by sender: Sender,
        _ body: (any Encodable)? = nil,
        key: String? = nil
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let token = try await token(of: sender) {
            request.headers.add(name: "authorization", value: "Bearer \(token)")
        }
        if let key { request.headers.add(name: "idempotency-key", value: key) }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        }
        let answer = try await answer(to: request)
        guard !(200..<300).contains(answer.status) else { return answer.bytes }
        // An answer without a problem comes from a proxy, and still has its status.
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.bytes))
        throw Refusal(
            status: answer.status,
            code: problem?.code ?? "",
            detail: problem?.detail ?? ""
        )
    }

    /// Sends a form of a page and repeats it until the store answers.
    ///
    /// - Returns: The page that it answers with.
    /// - Throws: ``StepFailure`` without an answer in time.
    func submit(_ fields: [String: String], to url: String) async throws -> String {
        let form = fields.map { name, value in
            let text = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "\(name)=\(text)"
        }.joined(separator: "&")
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(ByteBuffer(string: form))
        return String(decoding: try await answer(to: request).bytes, as: UTF8.self)
    }

    /// Sends a request and repeats it until the store answers.
    private func answer(to request: HTTPClientRequest) async throws -> Answer {
        var last = ""
        return try await wait.until("an answer to \(request.method) \(request.url) (\(last))") {
            do {
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(15))
                let buffer = try await response.body.collect(upTo: Self.answerBytesMax)
                let status = Int(response.status.code)
                last = "\(status)"
                if [429, 502, 503, 504].contains(status) { return nil }
                return Answer(status: status, bytes: Array(buffer.readableBytesView))
            } catch {
                try Task.checkCancellation()
                last = "\(error)"
                return nil
            }
        }
    }

    private func token(of sender: Sender) async throws -> String? {
        switch sender {
        case .administrator: try await store.administratorToken()
        case .account(let account): try await store.accountToken(account)
        case .nobody: nil
        }
    }
}
