import ClockAndIDs
import EventTypes
import Foundation
import StoreTracing
import TestSupport
import Testing

@testable import Operator
@testable import OperatorCore

/// The output of commands that look into a store, by values alone.
@Suite struct LookingTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func ago(_ seconds: Int64) -> StoreTime {
        StoreTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch - seconds * 1000)
    }

    @Test func aCountThatStoppedSaysSo() {
        #expect(BoundedCount(1_234_567).description == "1,234,567")
        #expect([-1234, -100, 100].map(\.grouped) == ["-1,234", "-100", "100"])
        #expect(BoundedCount(10_001, limit: 10_000).description == "more than 10,000")
        #expect(BoundedCount(10_000, limit: 10_000).description == "10,000")
    }

    @Test func theLagOfEachConsumerIsALine() {
        var behind = ConsumerLag(
            consumer: "receipts",
            topic: "payments.transactions",
            producer: "payments"
        )
        behind.events = BoundedCount(10_000, isAtLeast: true)
        behind.oldest = Self.ago(200)
        let none = ConsumerLag(
            consumer: "payments",
            topic: "catalog.products",
            producer: "catalog"
        )
        let report = LagReport([none, behind], at: Self.now)
        #expect(report.consumers.map(\.ageMilliseconds) == [0, 200_000])
        #expect(
            Palette.plain.table(report.table, numbers: [2]) == """
                CONSUMER  TOPIC                            BEHIND  OLDEST
                payments  catalog.products                      0  -
                receipts  payments.transactions  more than 10,000  3 min 20 s
                """
        )
    }

    private static let letter = RecordedDeadLetter(
        service: "receipts",
        id: 12,
        eventID: EventID(time: now),
        state: "dead",
        key: "ada",
        type: "transaction.purchased.v1",
        subject: "1000001",
        topic: "payments.transactions",
        partition: 3,
        offset: 77,
        time: ago(100),
        recordedAt: ago(90).onMachines,
        redriveRequestedAt: nil,
        settledAt: nil,
        reason: String(repeating: "x", count: 200) + "\nmore",
        act: nil,
        traceparent: TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    )

    @Test func aListOfDeadLettersCutsReasonsAndOneShowsAll() {
        let list = Palette.plain.table(
            RecordedDeadLetter.table([Self.letter], at: Self.now.onMachines)
        )
        #expect(
            list.contains("receipts  12  dead   ada  transaction.purchased.v1  1000001  1 min 30 s")
        )
        #expect(list.contains("xxx…") && !list.contains("more"))
        let one = Palette.plain.table(Self.letter.fields(at: Self.now.onMachines))
        #expect(one.contains("more"))
        #expect(one.contains("4bf92f3577b34da6a3ce929d0e0e4736"))
        #expect(one.contains("payments.transactions, partition 3, offset 77"))
    }

    @Test(arguments: [
        (#"{"b":1,"a":"x"}"#, "{\n  \"a\" : \"x\",\n  \"b\" : 1\n}"), ("no JSON", "no JSON"),
    ])
    func theDataOfAnEventIsShownAsWhatItIs(data: String, text: String) {
        #expect(EventText.text(of: Data(data.utf8)) == text)
    }

    @Test func dataThatIsNoTextIsShownInHexadecimal() {
        #expect(EventText.text(of: Data([0x00, 0xFF, 0x1A])) == "00ff1a")
    }

    @Test func aRedriveSaysWhatCameOfIt() {
        var redrive = Redrive(service: .receipts, key: "ada", asked: 3)
        #expect(RedriveCommand.summary(of: redrive).contains("has not started on them yet"))
        redrive.isWaiting = false
        redrive.reason = "no such thing"
        #expect(
            RedriveCommand.summary(of: redrive)
                == "receipts, ada: refused again, 3 wait: no such thing"
        )
        (redrive.open, redrive.applied) = (0, 3)
        #expect(RedriveCommand.summary(of: redrive) == "receipts, ada: 3 applied, in order.")
    }

    @Test func theStatusNamesWhatIsWrongAndWhereToLook() {
        var database = DatabaseStatus()
        database.schema = "m0004"
        database.dead = 1
        database.work["unfinished"] = .init(count: 3, isAtLeast: false, oldest: Self.ago(86_400))
        let report = StatusReport(services: [
            .init(
                service: .catalog,
                url: "u",
                health: "ready",
                version: "0.1.0",
                database: database
            ),
            .init(
                service: .payments,
                url: "u",
                health: "not ready",
                detail: "Waiting for: kafka.",
                databaseProblem: "The database of payments is away."
            ),
        ])
        #expect(!report.isWell)
        #expect(
            report.complaints == [
                "catalog could not apply 1 event: see 'counterfoil dead-letters list'.",
                "payments is not ready: Waiting for: kafka.", "The database of payments is away.",
            ]
        )
        let table = Palette.plain.table(report.table, numbers: [3, 4, 5])
        #expect(table.contains("catalog   ready      0.1.0         0     1       0  m0004"))
        #expect(
            Palette.plain.table(report.waiting(at: Self.now), numbers: [1])
                == "unfinished by apps  3  the oldest for 1 d"
        )
    }
}

@Suite struct PriceTests {
    @Test(arguments: [
        ("11.99", "USD", 1199), ("11.9", "USD", 1190), ("11", "USD", 1100), ("0", "USD", 0),
        ("1500", "JPY", 1500), ("0.250", "KWD", 250), ("007", "USD", 700),
    ])
    func anAmountIsReadInTheCurrencysUnit(text: String, currency: String, minorUnits: Int64) {
        let money = Money(text, Currency(unchecked: currency))
        #expect(money?.minorUnits == minorUnits)
    }

    @Test(arguments: [
        ("", "USD"), ("-1", "USD"), ("1.999", "USD"), ("1,99", "USD"), ("1.", "USD"), (".5", "USD"),
        ("1.5", "JPY"), ("1e3", "USD"), ("١", "USD"), ("99999999999999999999", "USD"),
        ("1.2.3", "USD"), ("1 USD", "USD"),
    ])
    func whatIsNoAmountIsRefused(text: String, currency: String) {
        #expect(Money(text, Currency(unchecked: currency)) == nil)
    }

    @Test func onlyThePriceChangesAndUnknownFieldsStay() throws {
        let product = """
            {"id": "a", "version": 3, "type": "consumable", "isOnSale": true, "new": [1],
             "isRestorable": false, "localizations": {}, "deliveryPlan": [],
             "prices": {"USA": {"minorUnits": 99, "currency": "USD"},
             "FRA": {"minorUnits": 89, "currency": "EUR"}}}
            """
        let edit = try ProductEdit(Data(product.utf8))
        let usa = Storefront(unchecked: "USA")
        #expect(edit.version == 3)
        #expect(edit.price(in: usa)?.description == "0.99 USD")
        #expect(edit.price(in: Storefront(unchecked: "JPN")) == nil)
        let draft = try edit.draft(
            Money(minorUnits: 1199, currency: Currency(unchecked: "USD")),
            in: usa
        )
        let expected = """
            {"type": "consumable", "isOnSale": true, "new": [1],
             "isRestorable": false, "localizations": {}, "deliveryPlan": [],
             "prices": {"USA": {"minorUnits": 1199, "currency": "USD"},
             "FRA": {"minorUnits": 89, "currency": "EUR"}}}
            """
        let (found, wanted) = (
            try JSONSerialization.jsonObject(with: draft) as? NSDictionary,
            try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        )
        #expect(found == wanted)
    }
}
