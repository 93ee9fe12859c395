import EventTypes
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct NowFieldsTests {
    private static let now = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func sample(
        health: String = "ready",
        dead: Int = 0,
        problem: String? = nil
    ) -> NowSample {
        let services = OperatedService.allCases.map { service in
            var entry = StatusReport.Entry(service: service, url: "http://x", health: health)
            var database = DatabaseStatus()
            database.dead = service == .receipts ? dead : 0
            entry.database = problem == nil ? database : nil
            entry.databaseProblem = problem
            return entry
        }
        var behind = ConsumerLag(
            consumer: "receipts",
            topic: "payments.transactions",
            producer: "payments"
        )
        behind.events = BoundedCount(3)
        behind.oldest = StoreTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch - 12_000)
        return NowSample(
            takenAt: now,
            storeTime: behind.oldest?.advanced(by: .seconds(12)),
            report: StatusReport(services: services),
            lag: LagReport([behind], at: behind.oldest?.advanced(by: .seconds(12)) ?? .distant),
            lagProblem: nil
        )
    }

    @Test func aStoreThatIsWellSaysSo() {
        #expect(NowFields.verdict(of: Self.sample()) == NowField("Every service is ready.", .good))
    }

    @Test func aServiceThatIsAwayIsNamed() {
        let verdict = NowFields.verdict(of: Self.sample(health: "away"))
        #expect(verdict.tone == .bad)
        #expect(verdict.text.hasPrefix("catalog and payments"))
    }

    @Test func aDeadLetterIsTold() {
        let fields = NowFields.fields(of: Self.sample(dead: 1))
        #expect(fields["receipts.dead"] == NowField("1", .bad))
        #expect(fields["verdict"] == NowField("1 event could not be applied.", .warn))
    }

    @Test func aConsumerThatIsLateIsBad() {
        let field = NowFields.fields(of: Self.sample())["lag.receipts.payments.transactions"]
        #expect(field == NowField("3 events, the oldest for 12 s", .bad))
    }

    @Test func aDatabaseThatCannotBeReadLeavesItsValuesUnknown() {
        let fields = NowFields.fields(of: Self.sample(problem: "away"))
        #expect(fields["payments.outbox"] == NowField("unknown", .warn))
        #expect(fields["verdict"]?.tone == .bad)
    }
}

extension StoreTime {
    fileprivate static let distant = StoreTime(millisecondsSinceEpoch: 0)
}
