import EventTypes
import Logging
import Postgres
import ServiceKit
import StoreAPI
import Stripe
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// A processor that takes 25 calls a second, as Stripe's gate has them made.
private final class NarrowProcessor: PaymentProcessor {
    private let gate = StripeGate(
        rate: 25,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    private let made = Mutex<[AttemptID: Int]>([:])
    private let amounts = Mutex<[AttemptID: Money]>([:])
    private let calls = Mutex<[ContinuousClock.Instant]>([])

    /// The places of the attempts in the order in which they were charged.
    var places: [AttemptID: Int] { made.withLock { $0 } }
    /// The time from the first call to the last.
    var span: Duration {
        calls.withLock { calls in
            guard let first = calls.first, let last = calls.last else { return .zero }
            return first.duration(to: last)
        }
    }

    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? { .prompt }

    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool { false }

    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async {
        await withDiscardingTaskGroup { group in
            for request in requests {
                group.addTask { answer(request.attemptID, await self.charge(request)) }
            }
        }
    }

    private func charge(_ request: ChargeRequest) async -> ChargeOutcome {
        do throws(StripeFailure) {
            return try await gate.pass(.buyers) { () async throws(StripeFailure) in
                self.make(request)
            }
        } catch {
            guard case .throttled(let pause) = error.kind else { return .unknown(reference: nil) }
            return .throttled(retryAfter: pause ?? .seconds(1))
        }
    }

    private func make(_ request: ChargeRequest) -> ChargeOutcome {
        calls.withLock { $0.append(.now) }
        amounts.withLock { $0[request.attemptID] = request.amount }
        made.withLock { made in
            if made[request.attemptID] == nil { made[request.attemptID] = made.count }
        }
        return .charged(reference: "narrow", amount: request.amount)
    }

    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {
        for inquiry in inquiries {
            let amount = amounts.withLock { $0[inquiry.attemptID] }
            answer(
                inquiry.attemptID,
                amount.map { .charged(reference: "narrow", amount: $0) }
                    ?? .notFound(isFinal: false)
            )
        }
    }

    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async {
        for search in searches { answer(search.attemptID, .nothing) }
    }

    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async {}

    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {}

    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async {}
}

/// More buyers than the processor takes at a time.
@Suite(.timeLimit(.minutes(10))) struct CrowdTests {
    private static let crowd = 200
    /// The account of another app.
    private static let carol = AuthenticatedAccount(
        accountID: AccountID(unchecked: "carol"),
        bundleID: BundleID(unchecked: "com.example.other")
    )

    /// Half of the crowd does not fit into memory, and a part of the rest is turned away at first.
    @Test func aCrowdOfTwoAppsIsChargedInTurn() async throws {
        let policy = AttemptPolicy(lease: .seconds(4))
        try await withStore(policy: policy, poolSize: 4) { store in
            var ids: [TransactionID] = []
            for number in 0..<Self.crowd {
                let buyer = number.isMultiple(of: 2) ? alice : Self.carol
                ids.append(try await store.add(request(), key: "\(number)", of: buyer).id)
            }
            let attempts = store.pending.take()
            let processor = NarrowProcessor()
            let queueMax = Self.crowd / 2
            let runner = Self.runner(processor, of: store, policy, queueMax: queueMax)
            let running = Task { try await runner.run() }
            runner.offer(attempts)
            // Whoever waits can see that.
            let last = try #require(ids.last)
            #expect(try await store.load(last).state == .purchasing)
            var longest = 0
            try await eventually("the whole crowd to be charged") {
                longest = max(longest, runner.queues[.prompt]?.count ?? 0)
                return try await Self.purchased(in: store) == Self.crowd ? true : nil
            }
            running.cancel()
            try await running.value
            #expect(longest <= queueMax)

            let (places, span) = (processor.places, processor.span)
            #expect(places.count == Self.crowd)
            // A second's calls may be saved up; all others wait for their turn.
            #expect(span >= .seconds(Self.crowd / 25 - 2))
            let early = attempts.enumerated().filter { number, attempt in
                number.isMultiple(of: 2) && places[attempt.id] ?? .max < Self.crowd / 2
            }
            // In the first half of the charges no app pushes the other one aside.
            #expect((Self.crowd / 8...Self.crowd * 3 / 8).contains(early.count), "\(early.count)")
            #expect(try await store.booksBalance())
        }
    }

    /// A runner whose time passes, as the machines' does.
    private static func runner(
        _ processor: NarrowProcessor,
        of store: Store,
        _ policy: AttemptPolicy,
        queueMax: Int
    ) -> ChargeRunner {
        let (clock, start) = (store.clock, ContinuousClock.now)
        var limits = ChargeRunner.Limits()
        limits.queueMax = queueMax
        return ChargeRunner(
            processor: processor,
            context: PaymentsContext(
                client: store.client,
                policy: policy,
                owner: store.context.owner,
                environment: .sandbox,
                subscriptions: .inTests,
                logger: store.context.logger,
                now: clock.now,
                machineNow: { clock.machineNow().advanced(by: start.duration(to: .now)) }
            ),
            limits: limits
        )
    }

    /// The number of purchases in the books, each with its posting.
    private static func purchased(in store: Store) async throws -> Int {
        try await store.client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT count(*) FROM transactions t JOIN ledger_postings p
                    ON p.transaction_id = t.id AND p.kind = 'purchase'
                WHERE t.state = 'purchased'
                """
            )
            return Int(try #require(rows.first).decode(Int64.self))
        }
    }
}
