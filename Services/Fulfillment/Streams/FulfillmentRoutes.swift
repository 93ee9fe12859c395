import EventTypes
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceKit
import StoreAPI

/// The clients' routes about their account's queue.
struct FulfillmentRoutes: Sendable {
    let hub: QueueHub
    let store: QueueReadStore
    let finishes: RequestBatcher<FinishRequest, FinishOutcome>
    let logger: Logger

    func add(to router: StoreRouter) {
        router.account
            .get(RouterPath(Routes.queue), use: queue)
            .get(RouterPath(Routes.queueTransactions), use: queueTransactions)
            .post(RouterPath("\(Routes.transactions)/:id/finish"), use: finish)
            .get(RouterPath(Routes.entitlements), use: entitlements)
            .get(RouterPath(Routes.credits), use: credits)
    }

    @Sendable private func queue(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let queue = try context.requireQueue()
        let lastEventID = try Self.lastEventID(of: request)
        let stream: QueueStream
        let database: String
        do {
            // Before the head of the response, so that an unavailable database is answered with
            // 503.
            stream = try await QueueStream(
                subscription: try hub.subscribe(to: queue, onLag: context.hangUp),
                after: lastEventID,
                store: store,
                logger: logger
            )
            // After the queue is read: a name that is too new makes the client ask once too often,
            // a name that is too old once too seldom.
            database = try await store.database()
        } catch let refusal as CapacityRefusal {
            throw refusal.problem(
                of: "streams",
                code: "too_many_streams",
                "Close a stream of this account's queue before opening another."
            )
        }
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name(QueueStreamHead.revisionField) {
            headers[name] = String(stream.revision)
        }
        if let name = HTTPField.Name(QueueStreamHead.databaseField) { headers[name] = database }
        return eventStreamResponse(in: context, headers: headers) { writer in
            try await stream.run(writer: writer)
        }
    }

    @Sendable private func queueTransactions(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let queue = try context.requireQueue()
        let page = try await store.unfinished(in: queue)
        // The same document as an encoded ``QueueResponse``, written from bytes that are already
        // JSON.
        var body = ByteBuffer(string: "{\"revision\":\(page.revision),\"transactions\":[")
        body.writeElements(page.changes)
        let headers: HTTPFields = [.contentType: "application/json"]
        guard let next = page.nextUnfinished else {
            body.writeString("]}")
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
        }
        return Response(
            status: .ok,
            headers: headers,
            body: longDocument(of: queue, beginningWith: body, after: next)
        )
    }

    /// Returns the document of a queue that is longer than a page.
    ///
    /// It is read as fast as the client receives it. A client forgets what the document leaves out. So a
    /// transaction that changes meanwhile is in it again, as it is then.
    ///
    /// - Parameters:
    ///   - queue: The account in its app.
    ///   - start: The document up to the end of the first page.
    ///   - revision: The revision after which the second page begins.
    /// - Returns: The body of the response.
    private func longDocument(
        of queue: QueueKey,
        beginningWith start: ByteBuffer,
        after revision: Int64
    ) -> ResponseBody {
        bodyUntilShutdown { [store] write in
            var piece = start
            var next: Int64? = revision
            while let after = next {
                try await write(piece)
                let page = try await store.unfinished(in: queue, after: after)
                next = page.nextUnfinished
                piece = ByteBuffer()
                if !page.changes.isEmpty { piece.writeString(",") }
                piece.writeElements(page.changes)
            }
            piece.writeString("]}")
            try await write(piece)
        }
    }

    @Sendable private func finish(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let queue = try context.requireQueue()
        guard let id = context.transactionID else { throw Self.problem(of: .unknown) }
        let finish = FinishRequest(transactionID: id, queue: queue, trace: context.trace)
        switch try await finishes.submit(finish) {
        case .finished(let time):
            let answer = FinishResponse(transactionID: id, finishedAt: time)
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.json))
            )
        case .refused(let refusal):
            throw Self.problem(of: refusal)
        }
    }

    @Sendable private func entitlements(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let queue = try context.requireQueue()
        var after: TransactionID?
        if let text = request.uri.queryParameters["after"] {
            guard let id = TransactionID(rawValue: String(text)) else {
                throw HTTPProblem.afterMalformed
            }
            after = id
        }
        return try jsonResponse(try await store.entitlements(of: queue, after: after))
    }

    @Sendable private func credits(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        try jsonResponse(
            CreditsResponse(balances: try await store.balances(of: try context.requireQueue()))
        )
    }

    /// Returns the event id from which a client resumes.
    ///
    /// Clients that cannot set the header use the query parameter.
    private static func lastEventID(of request: Request) throws -> Int64? {
        let header = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
        let text = header ?? request.uri.queryParameters["lastEventID"].map { String($0) }
        guard let text, !text.isEmpty else { return nil }
        guard let id = Int64(text), id >= 0 else {
            throw HTTPProblem(
                .badRequest,
                code: "last_event_id_malformed",
                title: "The last event id is not one of this queue",
                detail: "Send the id of the last event received, or none to begin again."
            )
        }
        return id
    }

    static func problem(of refusal: QueueRules.Refusal) -> HTTPProblem {
        let (title, detail) =
            switch refusal {
            case .unknown: TransactionProblem.unknown
            case .purchasing: TransactionProblem.purchasing
            case .deferred: TransactionProblem.deferred
            case .notDelivered:
                (
                    "The transaction is not delivered",
                    "Wait until the queue reports it as delivered."
                )
            case .unknownState:
                TransactionProblem.unknownState("A newer version of the store has to finish it.")
            }
        return HTTPProblem(
            refusal == .unknown ? .notFound : .conflict,
            code: refusal.rawValue,
            title: title,
            detail: detail
        )
    }
}

extension StoreRequestContext {
    /// The transaction id in the path, if it is valid.
    var transactionID: TransactionID? {
        parameters.get("id").flatMap { TransactionID(rawValue: $0) }
    }

    /// Returns the queue of the account and app that the request is authenticated for.
    func requireQueue() throws -> QueueKey {
        let account = try requireAccount()
        return QueueKey(accountID: account.accountID, bundleID: account.bundleID)
    }
}
