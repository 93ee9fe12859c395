import EventTypes
import Ledger
import Messaging
import Postgres
import Seals
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Charges that the processor has begun, and those whose buyers have to act.
@Suite(.timeLimit(.minutes(10))) struct ProcessorWaitsTests {
    private let hour = Duration.seconds(3600)

    @Test func aChargeThatTakesItsTimeIsWaitedForAndMadeOnce() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .processing), key: "a")
            #expect(bought.state == .purchasing)
            let attempt = try await store.attempt(of: bought.id)
            #expect(attempt.step == .processing && attempt.reference != nil)
            try await store.recover()
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(try await store.counts() == [1, 1, 0, 0, 2, 1, 1])
            #expect(store.processor.chargesAsked == 1)
        }
    }

    /// The process is killed after the call and before the commit of its answer.
    @Test func aBegunChargeWhoseAnswerWasNotCommittedIsFound() async throws {
        try await withStore { store in
            let added = try await store.add(request(method: .processing), key: "a")
            await store.processor.charge(store.pending.take().map(ChargeRequest.init)) { _, _ in }
            #expect(try await store.attempt(of: added.id).reference == nil)
            try await store.recover()
            #expect(try await store.load(added.id).state == .purchased)
            #expect(store.processor.chargesAsked == 1)
        }
    }

    @Test func theBuyerIsToldThePageAndNobodyElse() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            #expect(bought.state == .purchasing && bought.awaitsBuyer == true)
            guard case .act(let action, let end) = try await store.action(of: bought.id) else {
                return #expect(Bool(false), "There is no page.")
            }
            #expect(end == store.clock.machineNow().advanced(by: hour))
            let path = try #require(action.url.split(separator: "/").last)
            let id = try #require(EventID(path))
            let attempt = try await store.attempt(of: bought.id)
            #expect(attempt.id == AttemptID(bytes: id.bytes))
            #expect(!"\(action)".contains(action.url))
            guard case .unknown = try await store.action(of: bought.id, bob) else {
                return #expect(Bool(false), "Another account was told.")
            }
            let types = ["transaction.purchasing.v1", "transaction.wait-changed.v1"]
            #expect(try await store.eventTypes(of: bought.id) == types)
            #expect(try await store.eventsNaming(String(path)) == 0)
            #expect(try await store.eventsNaming(bought.id.rawValue) == 2)
        }
    }

    @Test func theEndOfTheWaitTakesItBack() async throws {
        try await withStore { store in
            let paid = try await store.buy(request(method: .needsAction), key: "a")
            let left = try await store.buy(request(method: .needsAction), key: "b")
            _ = try await store.act(on: paid.id, .completed)
            try await store.recover(after: hour * 2)
            let topics = try await store.client.withConnection { connection in
                try connection.query(
                    "SELECT topic FROM outbox WHERE type = 'transaction.wait-changed.v1'"
                ).map { try $0.decode(String.self) }
            }
            #expect(topics == Array(repeating: Topics.paymentsTransactions.name, count: 2))
            for (id, end) in [(paid.id, "purchased"), (left.id, "failed")] {
                let transaction = try await store.load(id)
                #expect(transaction.awaitsBuyer == nil && transaction.version == 3)
                #expect(
                    try await store.eventTypes(of: id) == [
                        "transaction.purchasing.v1", "transaction.wait-changed.v1",
                        "transaction.\(end).v1",
                    ]
                )
            }
        }
    }

    /// Each event is a batch, so the tables have to keep who is awaited.
    @Test func whoIsAwaitedIsMadeAgainFromTheLog() async throws {
        try await withStore { store in
            let bought = [
                try await store.buy(request(method: .needsAction), key: "a"),
                try await store.buy(request(method: .needsAction), key: "b"),
                try await store.buy(request(method: .processing), key: "c"),
            ]
            _ = try await store.act(on: bought[1].id, .completed)
            guard case .nothingToDo = try await store.action(of: bought[1].id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            let live = [
                try await store.load(bought[0].id), try await store.load(bought[1].id),
                try await store.load(bought[2].id),
            ]
            #expect(live.map(\.awaitsBuyer) == [true, nil, nil])
            let log = try await store.client.withTransaction {
                try EventLog.rows(after: .start, limit: 1000, part: .visible, on: $0)
            }
            for batches in [log.map { [$0] }, [log]] {
                try await withTestDatabase(migrations: PaymentsMigrations.all) { shadow in
                    try await shadow.withClient { client in
                        try await client.withTransaction { connection in
                            let handler = PaymentsRebuildHandler()
                            for batch in batches {
                                let contradictions = try handler.apply(batch, on: connection)
                                #expect(contradictions == [])
                            }
                        }
                        let rebuilt = Store(client: client)
                        for transaction in live {
                            #expect(try await rebuilt.load(transaction.id) == transaction)
                        }
                    }
                }
            }
        }
    }

    @Test func aBuyerWhoComesBackFromThePageHasPaidAtOnce() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            #expect(try await store.act(on: bought.id, .completed) == .completed)
            #expect(try await store.act(on: bought.id, .refused) == .completed)
            guard case .nothingToDo = try await store.action(of: bought.id) else {
                return #expect(Bool(false), "The buyer would have to act again.")
            }
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(try await store.counts() == [1, 1, 0, 0, 3, 1, 1])
        }
    }

    @Test func aBuyerWhoComesBackNoMoreIsFoundByInquiry() async throws {
        try await withStore { store in
            let paid = try await store.buy(request(method: .needsAction), key: "a")
            let refused = try await store.buy(request(method: .needsAction), key: "b")
            _ = try await store.act(on: paid.id, .completed)
            _ = try await store.act(on: refused.id, .refused)
            try await store.recover()
            #expect(try await store.load(paid.id).state == .purchased)
            #expect(try await store.load(refused.id).failureReason == .paymentDeclined)
        }
    }

    /// An answer that is lost takes the processor's advice with it.
    @Test(arguments: [false, true])
    func aRenewalForWhichTheBankWantsToSeeTheBuyerSaysSo(isAnswerLost: Bool) async throws {
        try await withStore { store in
            try await store.sell(club())
            let method = SandboxPaymentMethod.needsAction
            let bought = try await store.buy(
                request("club", price: usd(299), method: method),
                key: "a"
            )
            _ = try await store.act(on: bought.id, .completed)
            try await store.recover()
            let end = try #require(try await store.load(bought.id).subscription?.end)
            store.clock.advance(by: end.duration(since: store.clock.now()) - .seconds(86_400))
            #expect(try await store.renewals.carryOut(limit: 10) == 1)
            if isAnswerLost { store.processor.loseAnswers(1) }
            try await store.settle()
            try await store.recover()
            let renewal = try #require(try await store.transactions().last)
            #expect(renewal.reason == .renewal && renewal.failureReason == .buyerMustAct)
            #expect(try await store.subscription().renewalProblem == .buyerMustAct)
        }
    }

    @Test func aBuyerWhoDoesNotActIsNotChargedAndCanResume() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            for _ in 0..<6 { try await store.recover() }
            #expect(try await store.load(bought.id).state == .purchasing)
            try await store.recover(after: hour)
            #expect(try await store.load(bought.id).failureReason == .interrupted)
            // The page is closed: it charges nobody any more.
            #expect(try await store.act(on: bought.id, .completed) == .refused)
            try await store.recover()
            #expect(try await store.postings(of: bought.id) == [])
            let resumed = try await store.resumptions.resume(
                bought.id,
                by: SandboxPaymentMethod.success.method
            )
            guard case .resumed(let again) = resumed else {
                return #expect(Bool(false), "It was not resumed.")
            }
            try await store.settle()
            #expect(try await store.load(again.id).state == .purchased)
        }
    }

    @Test func aBuyerWhoHasLeftIsNotChargedUnderAnotherKey() async throws {
        try await withStore { store in
            store.processor.forgetWhatItEnds()
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            try await store.recover(after: hour * 2)
            #expect(try await store.load(bought.id).failureReason == .interrupted)
            #expect(store.processor.generationsAsked == [1])
        }
    }

    @Test func afterItsEndAnActionHasNoPage() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            store.clock.advance(by: hour)
            guard case .nothingToDo = try await store.action(of: bought.id) else {
                return #expect(Bool(false), "The buyer could still act.")
            }
            #expect(store.processor.inquiriesAsked == 0)
        }
    }

    @Test func aChargeThatWasConfirmedBeforeItsEndIsNotEnded() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            _ = try await store.act(on: bought.id, .completed)
            try await store.recover(after: hour * 2)
            #expect(try await store.load(bought.id).state == .purchased)
            #expect(try await store.postings(of: bought.id) == [.purchase])
        }
    }

    /// The process is killed after the processor ended the charge and before the commit.
    @Test func anEndedChargeWhoseCommitNeverCameFails() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .needsAction), key: "a")
            let attempt = try await store.attempt(of: bought.id)
            await store.processor.cancel([Inquiry(attempt)]) { _, _ in }
            try await store.recover(after: hour * 2)
            #expect(try await store.load(bought.id).failureReason == .interrupted)
            #expect(try await store.booksBalance())
        }
    }

    @Test func aChargeOfAnotherAmountBuysNothingAndIsReturned() async throws {
        try await withStore { store in
            let bought = try await store.buy(request(method: .wrongAmount), key: "a")
            #expect(bought.failureReason == .processorRefused)
            #expect(
                try await store.postings(of: bought.id) == [.strayCharge, .strayChargeReturn]
            )
            let returned = try await store.client.withConnection { connection in
                try connection.query("SELECT sum(amount)::bigint FROM sandbox_processor.refunds")
                    .map { try $0.decode(Int64.self) }
            }
            #expect(returned == [1000])
            #expect(try await store.booksBalance())
        }
    }

    /// The process is killed before it hears of the charge, and an inquiry finds it.
    @Test func aChargeInAnotherCurrencyBuysNothingAndIsReturned() async throws {
        try await withStore { store in
            let added = try await store.add(request(), key: "a")
            let attempts = store.pending.take()
            let euros = Money(minorUnits: 999, currency: Currency(unchecked: "EUR"))
            try await SandboxStore(client: store.client).record(
                attempts.map {
                    SandboxStore.Charge(
                        id: $0.id,
                        paymentMethod: $0.paymentMethod,
                        amount: euros
                    )
                }
            )
            try await store.recover()
            let ended = try await store.load(added.id)
            #expect(ended.state == .failed && ended.failureReason == .processorRefused)
            #expect(ended.price == usd(999))
            #expect(
                try await store.postings(of: added.id) == [.strayCharge, .strayChargeReturn]
            )
            let returned = try await store.client.withConnection { connection in
                try connection.query(
                    "SELECT currency || ' ' || amount FROM sandbox_processor.refunds"
                ).map { try $0.decode(String.self) }
            }
            #expect(returned == ["EUR 999"])
            #expect(store.processor.chargesAsked == 0)
            #expect(try await store.booksBalance())
        }
    }
}

extension Store {
    /// An attempt of a transaction.
    func attempt(of id: TransactionID, _ kind: AttemptKind = .charge) async throws
        -> ProcessorAttempt
    {
        let attempts = try await client.withTransaction { connection in
            try connection.read(AttemptStore.locking(of: [id]))
        }
        let found = attempts.values.first { $0.kind == kind }
        return try #require(found)
    }

    /// The number of events whose data contains a text.
    func eventsNaming(_ text: String) async throws -> Int {
        try await client.withConnection { connection in
            let rows = try connection.query("SELECT unpacked_json(data)::text FROM outbox")
            return try rows.map { try $0.decode(String.self) }.filter { $0.contains(text) }.count
        }
    }

    /// The page on which a buyer has to act.
    func action(
        of id: TransactionID,
        _ account: AuthenticatedAccount = alice
    ) async throws -> BuyerActionHandler.Reply {
        let handler = BuyerActionHandler(client: client, processor: processor, runner: runner)
        return try await handler.action(
            of: id,
            of: AccountKey(accountID: account.accountID, bundleID: account.bundleID)
        )
    }

    /// Decides on the page of the sandbox's processor.
    func act(
        on id: TransactionID,
        _ decision: OpenCallStore.BuyerDecision
    ) async throws -> OpenCallStore.BuyerDecision? {
        try await SandboxStore(client: client).openCalls.act(try await attempt(of: id).id, decision)
    }
}
