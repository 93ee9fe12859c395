import EventTypes
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit
import StoreAPI

/// The HTTP routes for payments and transactions.
///
/// They read requests, pass them to the handlers and write the answers. They contain no SQL and no
/// rules.
struct PaymentRoutes: Sendable {
    /// Accepts or refuses a payment.
    let pay: @Sendable (PaymentSubmission) async throws -> PaymentReply
    let restores: RestoreHandler
    let transactions: TransactionReader
    let approvals: ApprovalHandler
    let refunds: RefundHandler
    let resumptions: ResumptionHandler
    let actions: BuyerActionHandler
    /// The payment method of a resumption that names none; if `nil`, it has to name one.
    let defaultMethod: PaymentMethod?
    /// Whether a request is refused that has the number of a card in it.
    let refusesCardNumbers: Bool
    /// The maximum age of a token that restores.
    let restoreTokenAgeMax: Duration
    let machineNow: @Sendable () -> MachineTime
    /// The limit of questions for the page on which a buyer has to act.
    let actionLimit = AccountLimit(callsMax: 120)

    func add(to router: StoreRouter) {
        router.account.post("\(Routes.payments)", use: addPayment)
        router.account.post("\(Routes.restores)", use: restore)
        router.account.get("\(Routes.transactions)/:id", use: transaction)
        router.account.get("\(Routes.transactions)/:id/action", use: action)
        router.account.get("\(Routes.subscriptions)/:id/action", use: subscriptionAction)
        router.admin.get("\(Routes.adminTransactions)/:id", use: anyTransaction)
        router.admin.post("\(Routes.adminTransactions)/:id/approval", use: approval)
        router.admin.post("\(Routes.adminTransactions)/:id/refund", use: refund)
        router.admin.post(
            "\(Routes.adminTransactions)/:id/refunds/:number/reversal",
            use: refundReversal
        )
        router.admin.post("\(Routes.adminTransactions)/:id/resumption", use: resumption)
        RefundRequestRoutes(requests: RefundRequestHandler(refunds: refunds)).add(to: router)
    }

    @Sendable
    private func addPayment(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let submission = PaymentSubmission(
            account: try context.requireAccount(),
            idempotencyKey: try request.requireIdempotencyKey(),
            request: try await decodeBody(
                PaymentRequest.self,
                from: request,
                plain: PaymentRequest.init(json:)
            ),
            trace: context.trace
        )
        if refusesCardNumbers, submission.hasCardNumber { throw HTTPProblem.cardNumberRefused }
        switch try await pay(submission) {
        case .accepted(let body, let isReplay):
            return Response(
                status: .created,
                headers: headers(isReplay: isReplay),
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
            )
        case .refused(let refusal):
            throw refusal.problem
        }
    }

    /// Restores for a buyer who has just authenticated; a repetition under the same key also needs
    /// a fresh token.
    @Sendable
    private func restore(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let account = try context.requireAccount()
        guard
            RestoreRules.isFresh(
                issuedAt: account.tokenIssuedAt,
                now: machineNow(),
                ageMax: restoreTokenAgeMax
            )
        else { throw HTTPProblem.freshAuthenticationRequired(ageMax: restoreTokenAgeMax) }
        let key = try request.requireIdempotencyKey()
        let body = try await decodeBody(RestoreRequest.self, from: request)
        if refusesCardNumbers, CardNumber.isIn(body.applicationUsername ?? "") {
            throw HTTPProblem.cardNumberRefused
        }
        switch try await restores.restore(body, account, key: key, trace: context.trace) {
        case .restored(let transactions, let isReplay):
            return try jsonResponse(
                RestoreResponse(transactions: transactions),
                status: .created,
                headers: headers(isReplay: isReplay)
            )
        case .keyReused:
            throw HTTPProblem.idempotencyKeyReused
        case .tooMany(let max):
            throw HTTPProblem(
                .conflict,
                code: "restore_too_large",
                title: "There is too much to restore",
                detail: """
                    A restore makes at most \(max) transactions. Restore fewer products at once: name \
                    them in productIDs.
                    """
            )
        }
    }

    @Sendable
    private func transaction(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        return try answer(await transactions.transaction(try context.transactionInPath(), of: key))
    }

    /// Tells the buyer of a transaction on which page to act.
    @Sendable
    private func action(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        try actionLimit.count(key, at: machineNow())
        let reply = try await actions.action(of: try context.transactionInPath(), of: key)
        return try answer(reply, unknown: .transactionUnknown)
    }

    /// Tells the buyer of a subscription on which page to act, to pay what is owed.
    @Sendable
    private func subscriptionAction(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try context.requireAccountKey()
        try actionLimit.count(key, at: machineNow())
        let id = try context.subscriptionInPath()
        let reply = try await actions.action(ofSubscription: id, of: key)
        return try answer(reply, unknown: .subscriptionUnknown)
    }

    private func answer(
        _ reply: BuyerActionHandler.Reply,
        unknown: HTTPProblem
    ) throws -> Response {
        switch reply {
        case .unknown: throw unknown
        case .nothingToDo: throw HTTPProblem.noActionNeeded
        case .processorIsAway:
            throw HTTPProblem.tryAgain("The payment processor does not answer.")
        case .act(let action, let end):
            return try jsonResponse(
                BuyerActionResponse(
                    url: action.url,
                    endsIn: max(end.millisecondsSinceEpoch - machineNow().millisecondsSinceEpoch, 0)
                ),
                headers: [.cacheControl: "no-store"]
            )
        }
    }

    @Sendable
    private func anyTransaction(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try answer(await transactions.transaction(try context.transactionInPath()))
    }

    @Sendable
    private func approval(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.transactionInPath()
        let body = try await decodeBody(ApprovalRequest.self, from: request)
        return try answer(
            await approvals.decide(
                body.decision,
                on: id,
                by: try context.act(because: body.reason),
                trace: context.trace
            )
        )
    }

    /// Refunds a transaction; answers with 202 if the processor has not confirmed the refund yet.
    ///
    /// A request that names an amount needs a key, as its repetition would give back more.
    @Sendable
    private func refund(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.transactionInPath()
        let bytes = try await collectBody(of: request)
        let body =
            bytes.readableBytes == 0
            ? RefundRequest() : try decodeJSON(RefundRequest.self, from: bytes)
        let key =
            body.amount == nil ? try request.idempotencyKey() : try request.requireIdempotencyKey()
        let terms = RefundTerms(
            amount: body.amount,
            revokes: body.revokes,
            key: key.map {
                UsedKey(idempotencyKey: $0, fingerprint: RequestFingerprint.of(body))
            },
            act: try context.act(because: body.reason)
        )
        return try answer(await refunds.refund(id, terms, trace: context.trace))
    }

    /// Reverses a refund; answers with 202 if the processor has not confirmed the reversal yet.
    @Sendable
    private func refundReversal(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.transactionInPath()
        guard let number = context.parameters.get("number").flatMap({ Int($0) }), number > 0 else {
            throw HTTPProblem.refundUnknown
        }
        let bytes = try await collectBody(of: request)
        let body =
            bytes.readableBytes == 0
            ? RefundReversalRequest() : try decodeJSON(RefundReversalRequest.self, from: bytes)
        return try answer(
            await refunds.reverseRefund(
                number,
                of: id,
                by: try context.act(because: body.reason),
                trace: context.trace
            )
        )
    }

    /// Resumes an interrupted payment.
    ///
    /// In the sandbox, a request without a payment method uses the one that is charged at once.
    @Sendable
    private func resumption(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try context.transactionInPath()
        let bytes = try await collectBody(of: request)
        let body =
            bytes.readableBytes == 0
            ? ResumptionRequest() : try decodeJSON(ResumptionRequest.self, from: bytes)
        guard let method = body.paymentMethod ?? defaultMethod else {
            throw PaymentRefusal.paymentMethodNotAvailable(nil).problem
        }
        guard !CardNumber.isIn(method.rawValue) else { throw HTTPProblem.cardNumberRefused }
        switch try await resumptions.resume(id, by: method, trace: context.trace) {
        case .unknown: throw HTTPProblem.transactionUnknown
        case .notInterrupted(let transaction):
            throw TransactionRefusal.notInterrupted.problem(of: transaction)
        case .refused(let refusal): throw refusal.problem
        case .resumed(let transaction):
            return try answer(transaction)
        }
    }

    private func answer(_ reply: AdminReply) throws -> Response {
        switch reply {
        case .unknown: throw HTTPProblem.transactionUnknown
        case .refused(let refusal, let transaction): throw refusal.problem(of: transaction)
        case .done(let transaction): return try answer(transaction)
        case .accepted(_, let transaction): return try answer(transaction, status: .accepted)
        }
    }

    private func answer(
        _ transaction: Transaction?,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        guard let transaction else { throw HTTPProblem.transactionUnknown }
        return try jsonResponse(TransactionResponse(transaction: transaction), status: status)
    }

    private func headers(isReplay: Bool) -> HTTPFields {
        var headers: HTTPFields = [.contentType: "application/json"]
        if isReplay, let name = HTTPField.Name("Idempotent-Replayed") {
            headers[name] = "true"
        }
        return headers
    }
}
