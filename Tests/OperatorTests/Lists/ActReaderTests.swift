import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import Postgres
import StoreTracing
import TestSupport
import Testing

@testable import OperatorCore

/// The list of acts, from a log in which most events are none.
@Suite(.timeLimit(.minutes(10)))
struct ActReaderTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func act(_ name: String, _ reason: String) -> Act {
        Act(
            decidedBy: AdministratorName(unchecked: name),
            reason: ActReason(rawValue: reason)
        )
    }

    private static func event(_ number: Int64, _ type: EventType, _ act: Act?) throws -> OutboxEvent
    {
        let id = TransactionID(number: number)
        let usd = Currency(unchecked: "USD")
        let transaction = Transaction(
            id: id,
            originalID: id,
            reason: .purchase,
            version: 1,
            state: .purchased,
            accountID: AccountID(unchecked: number % 2 == 0 ? "ada" : "eve"),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "com.example.coins"),
            productVersion: 1,
            productType: .consumable,
            quantity: 1,
            storefront: Storefront(unchecked: "USA"),
            price: Money(minorUnits: 99, currency: usd),
            // A buyer's text makes no act.
            applicationUsername: #"{"act":{"decidedBy":"eve"}}"#,
            deliveryPlan: [.app],
            requestedAt: start
        )
        return try OutboxEvent(
            TransactionChanged(transaction: transaction, environment: "Sandbox", act: act),
            type: type,
            topic: Topics.paymentsTransactions,
            key: transaction.accountID.rawValue,
            subject: id.rawValue,
            time: start.advanced(by: .seconds(number))
        )
    }

    private func withActs(_ body: @escaping @Sendable (TestDatabase) async throws -> Void)
        async throws
    {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_payments")
        ) { database in
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    var events: [OutboxEvent] = []
                    for number in Int64(1)...300 {
                        events.append(try Self.event(number, .transactionPurchased, nil))
                    }
                    events += [
                        try Self.event(
                            301,
                            .transactionApproved,
                            Self.act("mia", "asked by phone")
                        ),
                        try Self.event(302, .transactionRefunded, Self.act("max", "damaged")),
                        try Self.event(303, .transactionRefunded, Self.act("mia", "twice")),
                    ]
                    try Outbox.append(events, on: connection)
                }
            }
            try await body(database)
        }
    }

    private func page(_ query: ActQuery, in database: TestDatabase) async throws -> [RecordedAct] {
        try await database.withClient(role: PostgresCluster.operatorRole) { client in
            try await client.withConnection { try ActStore.aboutBuyers(query, on: $0) }
        }
    }

    @Test func actsAreListedNewestFirst() async throws {
        try await withActs { database in
            let acts = try await page(ActQuery(), in: database)
            #expect(
                acts.map { "\($0.act)" } == [
                    "by mia: twice", "by max: damaged", "by mia: asked by phone",
                ]
            )
            #expect(acts.first?.words == "refunded 0.99 USD of 1 × com.example.coins")
            #expect(acts.last?.words == "approved 1 × com.example.coins for 0.99 USD")
            #expect(acts.first?.subject == .purchase(TransactionID(number: 303)))
        }
    }

    @Test func aPageEndsWhereTheNextOneBegins() async throws {
        try await withActs { database in
            var found: [String] = []
            var before: String?
            for _ in 1...3 {
                let acts = try await page(ActQuery(before: before, limit: 1), in: database)
                found += acts.prefix(1).map { "\($0.act)" }
                before = acts.first?.place
            }
            #expect(found == ["by mia: twice", "by max: damaged", "by mia: asked by phone"])
            #expect(try await page(ActQuery(before: before), in: database).isEmpty)
        }
    }

    @Test func actsAreChosenByPersonKindAndAccount() async throws {
        try await withActs { database in
            let mia = try await page(ActQuery(administrator: "mia"), in: database)
            #expect(mia.count == 2)
            #expect(try await page(ActQuery(kind: .approvals), in: database).count == 1)
            #expect(try await page(ActQuery(kind: .subscriptions), in: database).isEmpty)
            #expect(try await page(ActQuery(key: "ada"), in: database).map(\.key) == ["ada"])
        }
    }

    @Test func aPageOfOnePersonLooksAtALimitedNumber() async throws {
        try await withActs { database in
            let query = ActQuery(administrator: "mia")
            let (found, end) = try await database.withClient(role: PostgresCluster.operatorRole) {
                client in
                try await client.withConnection { connection in
                    let acts = try ActStore.aboutBuyers(query, lookedAtMax: 2, on: connection)
                    let end = try ActStore.lookedAt(query, lookedAtMax: 2, on: connection)
                    let next = ActQuery(administrator: "mia", before: end)
                    let further = try ActStore.aboutBuyers(next, lookedAtMax: 2, on: connection)
                    let last = try ActStore.lookedAt(next, lookedAtMax: 2, on: connection)
                    return ([acts, further].map { $0.map { "\($0.act)" } }, [end, last])
                }
            }
            #expect(found == [["by mia: twice"], ["by mia: asked by phone"]])
            #expect(end[0] != nil && end[1] == nil, "the second page is the last one")
        }
    }

    @Test func changesOfProductsAreChosenByPersonAndProduct() async throws {
        try await withTestDatabase(
            migrations: MessagingMigrations.all(role: "counterfoil_catalog")
        ) { database in
            let path = SourceTree.path("Tests/Fixtures/events/v1/product.changed.json")
            let product = try EventCoding.decode(
                ProductChanged.self,
                from: Array(try String(contentsOfFile: path, encoding: .utf8).utf8)
            ).product
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    for (number, name) in ["mia", "max"].enumerated() {
                        let event = try OutboxEvent(
                            ProductChanged(
                                product: product,
                                changedBy: name,
                                reason: name == "max" ? ActReason(rawValue: "again") : nil
                            ),
                            type: .productChanged,
                            topic: Topics.catalogProducts,
                            key: product.id.rawValue,
                            subject: product.id.rawValue,
                            time: Self.start.advanced(by: .seconds(number))
                        )
                        try Outbox.append([event], on: connection)
                    }
                }
            }
            func names(_ query: ActQuery) async throws -> [String] {
                try await database.withClient(role: PostgresCluster.operatorRole) { client in
                    try await client.withConnection { connection in
                        try ActStore.aboutProducts(query, lookedAtMax: 1, on: connection)
                            .map { $0.act }
                            .map { "\($0.decidedBy)" + ($0.reason.map { ": \($0)" } ?? "") }
                    }
                }
            }
            let end = try await database.withClient(role: PostgresCluster.operatorRole) { client in
                try await client.withConnection {
                    try ActStore.lookedAt(ActQuery(kind: .products), lookedAtMax: 1, on: $0)
                }
            }
            #expect(try await names(ActQuery(kind: .products)) == ["max: again"])
            #expect(try await names(ActQuery(kind: .products, administrator: "mia")) == [])
            let next = ActQuery(
                kind: .products,
                administrator: "mia",
                key: product.id.rawValue,
                before: end
            )
            #expect(try await names(next) == ["mia"])
            let other = ActQuery(kind: .products, key: "com.example.gems")
            #expect(try await names(other) == [])
        }
    }

    @Test func familiesAreAmongTheActsAboutBuyers() async throws {
        try await withActs { database in
            let family = Family(
                id: FamilyID(time: Self.start),
                bundleID: BundleID(unchecked: "com.example.app"),
                version: 1,
                organizer: AccountID(unchecked: "ada"),
                members: ["ada", "eve"].map {
                    FamilyMember(accountID: AccountID(unchecked: $0), joinedAt: Self.start)
                },
                createdAt: Self.start
            )
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    // A member that leaves by itself is no act of an administrator.
                    for act in [Self.act("mia", "asked by mail"), nil] {
                        let event = try OutboxEvent(
                            FamilyChanged(family: family, act: act),
                            type: .familyChanged,
                            topic: Topics.paymentsTransactions,
                            key: family.organizer.rawValue,
                            subject: family.id.rawValue,
                            time: Self.start
                        )
                        try Outbox.append([event], on: connection)
                    }
                }
            }
            let families = try await page(ActQuery(kind: .families), in: database)
            #expect(families.map(\.words) == ["made a family of ada, eve"])
            #expect(families.first?.subject == .family(family.id))
            #expect(try await page(ActQuery(), in: database).count == 4)
        }
    }

    @Test func whoForbadeAnAccountToPayIsListed() async throws {
        try await withActs { database in
            var account = Account(
                accountID: AccountID(unchecked: "ada"),
                bundleID: BundleID(unchecked: "com.example.app")
            )
            account.canMakePayments = false
            let changed = account
            try await database.withClient { client in
                try await client.withTransaction { connection in
                    let event = try OutboxEvent(
                        AccountChanged(account: changed, act: Self.act("mia", "fraud")),
                        type: .accountChanged,
                        topic: Topics.paymentsTransactions,
                        key: changed.accountID.rawValue,
                        subject: changed.accountID.rawValue,
                        time: Self.start
                    )
                    try Outbox.append([event], on: connection)
                }
            }
            let found = try await page(ActQuery(kind: .accounts), in: database)
            #expect(found.first?.subject == .account(changed.accountID))
            #expect(
                found.map(\.words) == [
                    "set that an account may not pay in com.example.app, and that it buys in "
                        + "any storefront"
                ]
            )
            #expect(try await page(ActQuery(key: "ada"), in: database).count == 2)
        }
    }

    @Test func aPageReadsTheIndexOfActsAlone() async throws {
        try await withActs { database in
            let plan = try await database.withClient { client in
                try await client.withConnection { connection in
                    try connection.execute("SET enable_seqscan = off")
                    return try connection.query(
                        """
                        EXPLAIN SELECT type FROM outbox
                        WHERE position('\\x22646563696465644279223a'::bytea IN data) > 0
                        ORDER BY xid DESC, position DESC LIMIT 51
                        """
                    ).map { try $0.decode(String.self) }.joined(separator: "\n")
                }
            }
            #expect(plan.contains("xid_position_idx1"), "\(plan)")
        }
    }

    @Test func anEventIsFoundByItsID() async throws {
        try await withActs { database in
            try await database.withClient(role: PostgresCluster.operatorRole) { client in
                try await client.withConnection { connection in
                    let row = try #require(
                        try connection.query(
                            "SELECT event_id, subject FROM outbox WHERE subject = '302'"
                        ).first
                    )
                    let (id, subject) = try row.decode(EventID.self, String.self)
                    let found = try StoryMarksStore.event(id, on: connection)
                    #expect(found?.subject == subject && found?.key == "ada")
                    #expect(
                        try StoryMarksStore.event(EventID(time: Self.start), on: connection) == nil
                    )
                }
            }
        }
    }
}
