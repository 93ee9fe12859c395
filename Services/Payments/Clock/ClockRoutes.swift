import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The HTTP routes with which administrators read and set the store's clock.
///
/// Production has only the last one, by which an administrator confirms a clock that was set ahead.
///
/// The routes contain no SQL and no rules.
struct ClockRoutes: Sendable {
    let clock: ClockHandler
    let environment: StoreEnvironment
    /// The last time at which receipts can be signed; `nil` while `receipts` has not said it.
    let end: @Sendable () -> StoreTime?

    func add(to router: StoreRouter) {
        guard environment == .sandbox else {
            router.admin.post(RouterPath(Routes.adminClockResume), use: confirm)
            return
        }
        router.admin
            .get(RouterPath(Routes.adminClock), use: show)
            .post(RouterPath(Routes.adminClockAdvance), use: advance)
            .post(RouterPath(Routes.adminClockFreeze), use: freeze)
            .post(RouterPath(Routes.adminClockRun), use: runOn)
            .post(RouterPath(Routes.adminClockResume), use: resume)
    }

    @Sendable
    private func show(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        try jsonResponse(ClockResponse(try await clock.read()))
    }

    /// Begins an advance; the answer is 202 while it is on its way.
    @Sendable
    private func advance(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try request.requireIdempotencyKey()
        let body = try await decodeBody(ClockAdvanceRequest.self, from: request)
        return try answer(
            try await clock.advance(
                amount(of: body),
                key: key,
                end: try requireEnd(),
                trace: context.trace
            )
        )
    }

    @Sendable
    private func freeze(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try answer(
            try await clock.perform(.freeze, end: StoreClock.last, trace: context.trace)
        )
    }

    @Sendable
    private func runOn(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(ClockRunRequest.self, from: request)
        guard let rate = body.rate.map({ ClockRate($0) }) ?? ClockRate.one else {
            throw HTTPProblem.clockRateMalformed
        }
        return try answer(
            try await clock.perform(.run(rate), end: try requireEnd(), trace: context.trace)
        )
    }

    /// Resumes an advance that failed.
    @Sendable
    private func resume(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try answer(try await clock.perform(.resume, end: StoreClock.last, trace: context.trace))
    }

    /// Lets the work on subscriptions go on after the machines' clock was set ahead.
    @Sendable
    private func confirm(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try jsonResponse(ClockResponse(try await clock.confirm()))
    }

    private func amount(of body: ClockAdvanceRequest) throws -> ClockAdvance.Amount {
        switch (body.by, body.to) {
        case (let text?, nil):
            guard let span = ClockSpan(text) else { throw HTTPProblem.clockSpanMalformed }
            return .by(span.duration)
        case (nil, let time?): return .to(time)
        default: throw HTTPProblem.clockAmountMissing
        }
    }

    private func requireEnd() throws -> StoreTime {
        guard let end = end() else {
            throw HTTPProblem.tryAgain(
                "receipts has not said yet until when its certificates sign. Is it running?"
            )
        }
        return end
    }

    private func answer(_ result: Result<ClockHandler.Reply, ClockRefusal>) throws -> Response {
        switch result {
        case .failure(let refusal): throw refusal.problem
        case .success(let reply):
            let response = ClockResponse(reply)
            return try jsonResponse(
                response,
                status: response.status == .advancing ? .accepted : .ok
            )
        }
    }
}

extension ClockResponse {
    /// The answer about a clock.
    fileprivate init(_ reply: ClockHandler.Reply) {
        self.init(now: reply.now, step: reply.state.followed.step, mode: .machines, status: .ready)
        switch reply.state.followed.clock {
        case .machines: break
        case .frozen: mode = .frozen
        case .running(_, _, let rate, let end):
            mode = .running
            self.rate = rate.description
            self.end = end
        }
        if let advance = reply.advance {
            (start, target, done) = (advance.start, advance.target, advance.done)
        }
        if !reply.waitsFor.isEmpty { waitsFor = reply.waitsFor }
        switch reply.state.status {
        case .ready: break
        case .advancing(let advance):
            status = .advancing
            (start, target) = (advance.start, advance.target)
        case .failed(let advance, let reason):
            status = .failed
            (start, target, failure) = (advance.start, advance.target, reason)
        }
    }
}
