import EventTypes
import Ledger
import Postgres
import ServiceKit
import Stripe
import StripeStandIn
import TestSupport
import Testing

@testable import Payments

/// The list of what moved at a stand-in for Stripe, in the store's tables and in its ledger.
@Suite(.timeLimit(.minutes(10))) struct MovementTests {
    @Test func chargesRefundsFeesAndPayoutsArePostedOnce() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id)
            _ = try await store.buy(by: try await store.save(), key: "b")
            try store.standIn.payOut("usd")
            for _ in 0..<3 { try await store.readMovements() }
            #expect(try await store.counts("processor_movements") == [4])
            // Two charges of 9.99 with a fee of 0.58 each, one of which was given back.
            #expect(
                try await store.balances()
                    == [
                        .processorPayments: -999, .processorFees: 116, .bank: 883,
                        .processorBalance: 0,
                    ]
            )
        }
    }

    @Test func theListSaysWhoseEachMovementIs() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id)
            let attempt = try await store.charge(of: bought.id).id
            // Somebody charges on Stripe's own pages.
            try await store.post(
                "/v1/payment_intents",
                "amount=500&currency=usd&payment_method=pm_card_visa&confirm=true"
            )
            try await store.readMovements()
            let charges = try await store.list("processor_charges")
            #expect(charges.filter { $0.attempt == attempt }.map(\.amount) == [999])
            #expect(charges.filter { $0.attempt == nil }.map(\.amount) == [500])
            let returns = try await store.list("processor_returns")
            #expect(returns.map(\.amount) == [999] && returns.map(\.attempt) == [attempt])
        }
    }

    @Test func aRefundThatFailsLaterIsNoReturn() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save("pm_card_refundFail"))
            _ = try await store.refunds.refund(bought.id)
            let charge = try #require(try await store.charge(of: bought.id).reference)
            let refund = try await store.stripe.refunds(of: charge.rawValue).data.first
            try store.standIn.end(refund: try #require(refund).id, succeeds: false)
            try await store.readMovements()
            let returns = try await store.list("processor_returns")
            #expect(returns.map(\.amount).sorted() == [-999, 999])
        }
    }

    @Test func aListThatBreaksOffIsReadOn() async throws {
        try await withStripeStore { store in
            _ = try await store.buy(by: try await store.save())
            store.standIn.inject(StandInFault(.down, path: "/v1/balance_transactions"))
            await #expect(throws: StripeFailure.self) { try await store.readMovements() }
            #expect(try await store.counts("processor_movements") == [0])
            // Whoever had the list is dead, and its lease ends.
            try await store.movements.readList(pause: .seconds(600))
            #expect(try await store.counts("processor_movements") == [0])
            store.clock.advance(by: .seconds(61))
            try await store.movements.readList(pause: .seconds(600))
            #expect(try await store.counts("processor_movements") == [1])
        }
    }

    @Test func aPageIsNoLimit() async throws {
        try await withStripeStore { store in
            let own = try await store.buy(by: try await store.save())
            for _ in 0..<101 {
                try await store.post(
                    "/v1/payment_intents",
                    "amount=500&currency=usd&payment_method=pm_card_visa&confirm=true"
                )
            }
            try await store.readMovements()
            #expect(try await store.counts("processor_movements") == [102])
            let charges = try await store.list("processor_charges")
            #expect(charges.contains { $0.amount == own.price.minorUnits })
        }
    }

    @Test func theBalanceIsReadUpToTheNewestMovement() async throws {
        try await withStripeStore { store in
            _ = try await store.buy(by: try await store.save())
            try await store.readMovements()
            // A charge of 9.99 with a fee of 0.58.
            #expect(try await store.processorBalances() == ["USD 941, 0 before, up to 1"])
            try store.standIn.payOut("usd")
            _ = try await store.buy(by: try await store.save(), key: "b")
            try await store.readMovements()
            #expect(try await store.processorBalances() == ["USD 941, 0 before, up to 3"])
            #expect(try await store.balances()[.processorBalance] == 941)
        }
    }

    /// A rebuild leaves the list out, because Stripe has it.
    @Test func aDatabaseWithoutTheListReadsItAgainAndPostsTheSame() async throws {
        try await withStripeStore { store in
            let bought = try await store.buy(by: try await store.save())
            _ = try await store.refunds.refund(bought.id)
            try store.standIn.end(
                refund: try #require(store.standIn.refunds(ofTransaction: bought.id.rawValue).last),
                succeeds: false
            )
            try await store.readMovements()
            let (balances, told) = (
                try await store.balances(), try await store.processorBalances()
            )
            try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
                try await database.withClient(role: PaymentsMigrations.role, poolSize: 2) {
                    client in
                    let rebuilt = try StripeStore(
                        client: client,
                        standIn: store.standIn,
                        url: store.url,
                        clock: store.clock
                    )
                    for _ in 0..<2 { try await rebuilt.readMovements() }
                    #expect(try await rebuilt.counts("processor_movements") == [3])
                    #expect(try await rebuilt.balances() == balances)
                    #expect(try await rebuilt.processorBalances() == told)
                    await rebuilt.stripe.shutDown()
                }
            }
        }
    }

    @Test func aBalanceWithAMovementThatIsNotReadDoesNotCount() async throws {
        try await withStripeStore { store in
            _ = try await store.buy(by: try await store.save())
            try await store.readMovements()
            try await store.client.withConnection { connection in
                let known = try connection.query("SELECT movement_id FROM processor_movements")
                    .map { try $0.decode(String.self) }
                let (all, none, early, other) = (
                    try MovementStore.areKnown(known, of: .default, upTo: 1, on: connection),
                    try MovementStore.areKnown([], of: .default, upTo: 0, on: connection),
                    try MovementStore.areKnown(known, of: .default, upTo: 0, on: connection),
                    try MovementStore.areKnown(
                        known + ["txn_new"],
                        of: .default,
                        upTo: 1,
                        on: connection
                    )
                )
                #expect(all && none && !early && !other)
            }
        }
    }

    /// The account at Stripe may be older than the store.
    @Test func movementsFromBeforeTheFirstSaleNeedNotBeKnown() {
        let sale = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)
        let movements = [0, -1, -599, -600, -86_400].map { seconds in
            Self.movement("txn_\(seconds)", at: sale.advanced(by: .seconds(seconds)))
        }
        #expect(
            ProcessorMovement.newest(of: movements.reversed())
                == ["txn_-599", "txn_-1", "txn_0"]
        )
        #expect(ProcessorMovement.newest(of: []) == [])
    }

    private static func movement(_ id: String, at time: MachineTime) -> ProcessorMovement {
        ProcessorMovement(
            id: id,
            kind: "charge",
            source: nil,
            payment: nil,
            attemptID: nil,
            amount: ProcessorAmount(wire: 100, currency: "usd"),
            fee: ProcessorAmount(wire: 0, currency: "usd"),
            asked: nil,
            movedAt: time
        )
    }

    @Test func whatWasThereBeforeTheFirstSaleIsNoDifference() async throws {
        try await withStripeStore { store in
            // The account had 5 USD and 7 EUR, and its list begins with the first sale.
            let eur = Money(minorUnits: 700, currency: Currency(unchecked: "EUR"))
            try await store.movements.store([store.ownMovement])
            try await store.note([usd(600), eur], upTo: 1)
            #expect(
                try await store.processorBalances()
                    == ["EUR 700, 700 before, up to 1", "USD 600, 500 before, up to 1"]
            )
            // A currency that comes later was not there, and one that goes has nothing.
            let yen = Money(minorUnits: 9, currency: Currency(unchecked: "JPY"))
            try await store.note([usd(650), yen], upTo: 2)
            #expect(
                try await store.processorBalances()
                    == [
                        "EUR 0, 700 before, up to 2", "JPY 9, 0 before, up to 2",
                        "USD 650, 500 before, up to 2",
                    ]
            )
        }
    }

    @Test func aLookAtOneAccountLeavesTheBalanceOfAnother() async throws {
        try await withStripeStore { store in
            let games = ProcessorAccountName(rawValue: "games")
            try await store.movements.store([store.ownMovement])
            try await store.note([usd(600)], upTo: 1)
            // The movement is not of this account, so all that it has was there before.
            try await store.note([usd(40)], of: games, upTo: 1)
            try await store.note([usd(650)], upTo: 2)
            #expect(
                try await store.processorBalances().sorted()
                    == ["USD 40, 40 before, up to 1", "USD 650, 500 before, up to 2"]
            )
        }
    }

    @Test func aCurrencyThatTheProcessorDoesNotNameHasNothing() async throws {
        try await withStripeStore { store in
            // The account owed a dollar before the first sale, which brought one.
            try await store.movements.store([store.ownMovement])
            let eur = Money(minorUnits: 700, currency: Currency(unchecked: "EUR"))
            for _ in 0..<2 {
                try await store.note([eur], upTo: 1)
                #expect(
                    try await store.processorBalances()
                        == ["EUR 700, 700 before, up to 1", "USD 0, -100 before, up to 1"]
                )
            }
        }
    }

    @Test func eventsOfLongAgoAreRemoved() async throws {
        try await withStripeStore { store in
            _ = try await store.save()
            try await store.events.readList(pause: .seconds(300))
            store.clock.advance(by: ProcessorEventHandler.keepTime + .seconds(10))
            // An event that is not applied stays, however old it is.
            try await store.events.prune()
            #expect(try await store.counts("processor_events") == [1])
            try await store.applyEvents()
            store.clock.advance(by: ProcessorEventHandler.keepTime - .seconds(10))
            try await store.events.prune()
            #expect(try await store.counts("processor_events") == [1])
            store.clock.advance(by: .seconds(20))
            try await store.events.prune()
            #expect(try await store.counts("processor_events") == [0])
        }
    }
}

extension StripeStore {
    /// Reads what moves at the store's processor.
    var movements: MovementHandler {
        MovementHandler(
            client: client,
            account: account,
            ids: .random,
            now: clock.machineNow,
            storeNow: clock.now,
            logger: processor.logger
        )
    }

    /// Reads the list, as it is done every ten minutes.
    func readMovements() async throws {
        clock.advance(by: .seconds(600))
        try await movements.readList(pause: .seconds(600))
    }

    /// A movement of one dollar, which the stand-in does not have.
    var ownMovement: ProcessorMovement {
        ProcessorMovement(
            id: "txn_own",
            kind: "charge",
            source: nil,
            payment: nil,
            attemptID: nil,
            amount: ProcessorAmount(wire: 100, currency: "usd"),
            fee: ProcessorAmount(wire: 0, currency: "usd"),
            asked: nil,
            movedAt: clock.machineNow()
        )
    }

    /// Writes what the processor says of its balance.
    func note(
        _ balances: [Money],
        of account: ProcessorAccountName = .default,
        upTo number: Int
    ) async throws {
        let time = clock.machineNow()
        try await client.withTransaction { connection in
            try MovementStore.save(
                balances,
                of: account,
                upTo: number,
                at: time,
                on: connection
            )
        }
    }

    /// The balances that the processor has told, by their currencies.
    func processorBalances() async throws -> [String] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT currency || ' ' || amount || ', ' || opening || ' before, up to '
                    || movement_number
                FROM processor_balances ORDER BY currency
                """
            ).map { try $0.decode(String.self) }
        }
    }

    /// The sums of the accounts that have to do with the processor.
    func balances() async throws -> [LedgerAccount: Int64] {
        let postings = try await client.withConnection {
            try LedgerStore.postings(of: .ofNoTransaction, on: $0)
        }
        return postings.flatMap(\.entries).reduce(into: [:]) {
            $0[$1.account, default: 0] += $1.amount.minorUnits
        }
    }

    /// The attempts and amounts of one of the processor's lists.
    func list(_ view: String) async throws -> [(attempt: AttemptID?, amount: Int64)] {
        try await client.withConnection { connection in
            try connection.query("SELECT attempt_id, amount FROM \(unsafe: view)").map { row in
                let (attempt, amount) = try row.decode(SIMD16<UInt8>?.self, Int64.self)
                return (attempt.map { AttemptID(bytes: $0) }, amount)
            }
        }
    }
}
