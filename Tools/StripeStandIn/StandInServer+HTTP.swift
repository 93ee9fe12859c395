import Foundation
import HTTPTypes
import Hummingbird
package import Logging
import NIOCore
import Synchronization

extension StandInServer {
    /// The break of a connection.
    private struct ConnectionBreaks: Error {}

    /// Serves the API, the pages and the controls until it is cancelled.
    ///
    /// - Parameters:
    ///   - logger: Receives what the HTTP server tells.
    ///   - isRunning: Gets the address, without a slash at its end.
    /// - Throws: Errors of the HTTP server, such as a port in use.
    package func run(
        logger: Logger,
        isRunning: @escaping @Sendable (String) async -> Void
    ) async throws {
        let application = Application(
            router: router(),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: options.port)
            ),
            onServerRunning: { channel in
                let url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
                for account in self.accounts { account.setPages(url) }
                await isRunning(url)
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for account in accounts {
                group.addTask { await account.sendWebhooks() }
                group.addTask { await account.endProcessed() }
            }
            group.addTask { try await application.run() }
            // All but the last one end at once if they have nothing to do.
            try await group.waitForAll()
        }
    }

    private func router() -> Router<StandInContext> {
        let router = Router(context: StandInContext.self)
        router.get("/v1/**") { request, context in try await self.answer(request, context) }
        router.post("/v1/**") { request, context in try await self.answer(request, context) }
        router.get("/authenticate/{payment}") { _, context in
            Self.page(try context.parameters.require("payment"))
        }
        router.post("/authenticate/{payment}/{outcome}") { _, context in
            let id = try context.parameters.require("payment")
            let succeeds = try context.parameters.require("outcome") == "complete"
            let account = self.account(of: id) ?? self
            do { try account.end(payment: id, succeeds: succeeds) } catch {
                throw HTTPError(.conflict, message: "\(error)")
            }
            guard let url = account.returnURL(ofPayment: id) else {
                return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer()))
            }
            return .redirect(to: url, type: .normal)
        }
        router.post("/control/{what}") { request, context in
            let what = try context.parameters.require("what")
            let body = try await request.body.collect(upTo: 64 * 1024)
            var form = StandInForm(String(buffer: body))
            let name = form.take("account") ?? self.name
            do {
                guard let account = self.account(named: name) else {
                    throw StandInError.missing("account", name)
                }
                try account.control(what, form)
            } catch {
                throw HTTPError(.badRequest, message: "\(error)")
            }
            return HTTPResponse.Status.noContent
        }
        router.get("/control/entries") { request, _ in
            let name = StandInForm(request.uri.query ?? "")["account"] ?? self.name
            guard let account = self.account(named: name) else {
                return Self.response(StandInAnswer(StandInError.missing("account", name)))
            }
            return Self.response(StandInAnswer(account.entriesJSON))
        }
        return router
    }

    private func answer(
        _ request: Request,
        _ context: StandInContext
    ) async throws -> Response {
        let body = try await request.body.collect(upTo: 1024 * 1024)
        let key = Self.key(in: request.headers[.authorization])
        guard let account = key.flatMap({ self.account(with: $0) }) else {
            return Self.response(
                StandInAnswer(.invalid("No valid API key provided.", status: 401))
            )
        }
        let call = StandInCall(
            method: request.method.rawValue,
            path: request.uri.path,
            encoded: request.method == .get ? request.uri.query ?? "" : String(buffer: body),
            key: HTTPField.Name("idempotency-key").flatMap { request.headers[$0] }
        )
        switch await account.reply(to: call) {
        case .answer(let answer): return Self.response(answer)
        case .lost:
            // The client may have closed it already.
            try? await context.channel.close()
            throw ConnectionBreaks()
        case .silent:
            // The client closes it once its patience is over.
            try await Task.sleep(for: .seconds(3600))
            throw ConnectionBreaks()
        case .broken:
            return Self.begun { throw ConnectionBreaks() }
        case .stalled:
            return Self.begun { try await Task.sleep(for: .seconds(3600)) }
        case .dripping: return Self.dripping()
        }
    }

    /// An answer that begins, so that the client must not believe its status alone.
    private static func begun(
        _ goOn: @escaping @Sendable () async throws -> Void
    ) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(contentLength: 4096) { writer in
                try await writer.write(ByteBuffer(string: "{"))
                try await goOn()
            }
        )
    }

    /// An answer of which some byte always comes soon, and whose end does not.
    private static func dripping() -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(contentLength: 4096) { writer in
                for _ in 0..<4096 {
                    try await writer.write(ByteBuffer(string: " "))
                    try await Task.sleep(for: .milliseconds(50))
                }
                try await writer.finish(nil)
            }
        )
    }

    /// The secret key of a call, as `Bearer` or as the name of `Basic`.
    private static func key(in header: String?) -> String? {
        guard let header else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        guard parts[0] == "Basic" else { return parts[1] }
        let text = Data(base64Encoded: parts[1]).map { String(decoding: $0, as: UTF8.self) }
        return text.map { String($0.prefix { $0 != ":" }) }
    }

    private static func response(_ answer: StandInAnswer) -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        func set(_ name: String, _ value: String) {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        set("Request-Id", "req_" + UUID().uuidString.filter(\.isHexDigit).prefix(14))
        set("Stripe-Version", StandInBooks.version)
        if answer.isReplayed { set("Idempotent-Replayed", "true") }
        if let shouldRetry = answer.shouldRetry { set("Stripe-Should-Retry", "\(shouldRetry)") }
        return Response(
            status: .init(code: answer.status),
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body))
        )
    }

    /// The bank's page, on which a buyer agrees or not.
    private static func page(_ id: String) -> Response {
        // The id is a part of the address, which may hold anything.
        let id = id.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        let html = """
            <!doctype html><html lang="en"><title>A bank</title><h1>Confirm the payment?</h1>
            <form method="post" action="/authenticate/\(id)/complete"><button>Yes</button></form>
            <form method="post" action="/authenticate/\(id)/fail"><button>No</button></form></html>
            """
        return Response(
            status: .ok,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }
}
