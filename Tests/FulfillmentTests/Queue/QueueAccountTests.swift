import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

@testable import Fulfillment

extension Account {
    static func sample(
        _ version: Int,
        canMakePayments: Bool = false,
        account: String = "alice",
        bundle: BundleID = appID
    ) -> Account {
        Account(
            accountID: AccountID(unchecked: account),
            bundleID: bundle,
            version: version,
            canMakePayments: canMakePayments
        )
    }
}

extension ReceivedEvent {
    static func arrival(_ account: Account) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: startOfTime),
            type: .accountChanged,
            topic: Topics.paymentsTransactions.name,
            key: account.accountID.rawValue,
            subject: account.accountID.rawValue,
            time: startOfTime,
            data: try EventCoding.encode(AccountChanged(account: account))
        )
    }
}

extension FulfillmentDatabase {
    /// Applies accounts and transactions as one batch.
    func arrive(accounts: [Account], transactions: [Transaction] = []) async throws {
        let events =
            try accounts.map { try ReceivedEvent.arrival($0) }
            + transactions.map { try ReceivedEvent.arrival($0) }
        try await client.withTransaction { [handler] connection in
            try handler.apply(events, on: connection)
        }
    }

    /// Returns the published changes of accounts in order.
    func publishedAccounts() async throws -> [QueueAccountChanged] {
        try await outbox().filter { $0.type == .queueAccountChanged }
            .map { try $0.decode(QueueAccountChanged.self) }
    }
}

extension EventReader.Event {
    var accountChange: QueueAccountChanged {
        get throws { try JSONDecoder().decode(QueueAccountChanged.self, from: Data(data.utf8)) }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct QueueAccountTests {
    @Test func anAccountIsAChangeOfItsQueueWithARevisionOfItsOwn() async throws {
        try await withFulfillment { store in
            try await store.arrive(.sample(1))
            try await store.arrive(accounts: [.sample(1)])
            try await store.arrive(.sample(2))
            let outbox = try await store.outbox()
            #expect(outbox.map(\.type) == [.queueChanged, .queueAccountChanged, .queueChanged])
            #expect(outbox.allSatisfy { $0.key == "alice" })
            #expect(outbox[1].topic == Topics.fulfillmentQueues.name)
            #expect(
                try await store.publishedAccounts()
                    == [QueueAccountChanged(revision: 2, account: .sample(1))]
            )
            let encoded = try EventCoding.encode(
                QueueAccountChanged(revision: 2, account: .sample(1))
            )
            #expect(outbox[1].data == encoded)
            let page = try await store.reads.unfinished(in: .sample())
            #expect(page.revision == 3 && page.account?.revision == 2)
            #expect(page.changes.map(\.revision) == [1, 3])
        }
    }

    @Test func duplicatesAndOlderVersionsInOneBatchOrLaterChangeNothing() async throws {
        try await withFulfillment { store in
            try await store.arrive(accounts: [.sample(1), .sample(3), .sample(2), .sample(3)])
            try await store.arrive(accounts: [.sample(2)])
            try await store.arrive(accounts: [.sample(3)])
            #expect(
                try await store.publishedAccounts()
                    == [QueueAccountChanged(revision: 1, account: .sample(3))]
            )
            #expect(try await store.reads.unfinished(in: .sample()).revision == 1)
        }
    }

    @Test func inABatchWithTransactionsRevisionsHaveNoGap() async throws {
        try await withFulfillment { store in
            try await store.arrive(
                accounts: [.sample(1), .sample(1, account: "bob"), .sample(2)],
                transactions: [.sample(1), .sample(2), .sample(3, account: "bob")]
            )
            var revisions: [String: [Int64]] = [:]
            for event in try await store.outbox() {
                let revision =
                    event.type == .queueChanged
                    ? try event.decode(QueueChanged.self).revision
                    : try event.decode(QueueAccountChanged.self).revision
                revisions[event.key, default: []].append(revision)
            }
            #expect(revisions == ["alice": [1, 2, 3], "bob": [1, 2]])
            #expect(try await store.publishedAccounts().map(\.account.version) == [1, 2])
        }
    }

    @Test func whatANewerStoreSaysOfAnAccountReachesClientsUnread() async throws {
        try await withFulfillment { store in
            let data = """
                {"account":{"accountID":"alice","bundleID":"\(appID)","canMakePayments":true,\
                "mood":"good","purchaseIntents":[],"version":1}}
                """
            let account = try EventCoding.decode(AccountChanged.self, from: Array(data.utf8))
                .account
            let snapshot = try AccountSnapshot(of: account, in: Array(data.utf8))
            let text = String(decoding: snapshot.queueAccountChanged(revision: 7), as: UTF8.self)
            #expect(text.contains("\"mood\":\"good\"") && text.hasSuffix(",\"revision\":7}"))
            let encoded = try AccountSnapshot(of: account, in: [])
            #expect(
                try EventCoding.decode(
                    QueueAccountChanged.self,
                    from: encoded.queueAccountChanged(revision: 7)
                ) == QueueAccountChanged(revision: 7, account: account)
            )
        }
    }

    @Test func theServiceMayReplaceWhatItKnowsOfAnAccountNotWhoseItIs() async throws {
        try await withFulfillment { store in
            try await store.arrive(accounts: [.sample(1)])
            #expect(try await !store.isAllowed("DELETE FROM queue_accounts"))
            #expect(try await !store.isAllowed("TRUNCATE queue_accounts"))
            #expect(try await !store.isAllowed("UPDATE queue_accounts SET account_id = 'bob'"))
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct QueueAccountStreamTests {
    @Test func aClientGetsItsAccountFirstThenEveryChangeOfIt() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            try await server.store.arrive(accounts: [.sample(1)])
            try await server.handOn()
            var stream = try await server.connect()
            let account = try #require(try await stream.next())
            #expect(account.name == "account" && account.id == nil)
            #expect(
                try account.accountChange == QueueAccountChanged(revision: 2, account: .sample(1))
            )
            let transaction = try #require(try await stream.next())
            #expect(transaction.name == "transaction" && transaction.id == "2")

            try await server.store.arrive(
                accounts: [.sample(2, canMakePayments: true)],
                transactions: [.sample(2)]
            )
            try await server.handOn()
            #expect(try await stream.next()?.name == "transaction")
            let change = try #require(try await stream.next())
            #expect(change.name == "account" && change.id == "4")
            #expect(try change.accountChange.account == .sample(2, canMakePayments: true))
        }
    }

    @Test func aClientWithoutAnAccountOfItsOwnGetsNone() async throws {
        try await StreamServer.run { server in
            let elsewhere = BundleID(unchecked: "com.example.other")
            try await server.store.arrive(
                accounts: [.sample(1, account: "bob"), .sample(1, bundle: elsewhere)]
            )
            var stream = try await server.connect()
            try await server.store.arrive(
                accounts: [.sample(2, account: "bob"), .sample(2, bundle: elsewhere)]
            )
            try await server.store.arrive(.sample(1))
            try await server.handOn()
            #expect(try await stream.next()?.change.transaction == .sample(1))
        }
    }

    @Test func aClientResumesWithAnAccountThatChangedInItsPlace() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            try await server.store.arrive(accounts: [.sample(1)])
            try await server.store.arrive(.sample(2))
            var behind = try await server.connect(after: "1")
            let events = [try await behind.next(), try await behind.next()].compactMap { $0 }
            #expect(events.map(\.name) == ["account", "transaction"])
            #expect(events.map(\.id) == ["2", "3"])
            var level = try await server.connect(after: "3")
            try await server.store.arrive(.sample(3))
            try await server.handOn()
            #expect(try await level.next()?.id == "4")
            #expect(try await behind.next()?.id == "4")
        }
    }

    @Test func aLongAbsenceWithAnAccountInItIsMadeUpForPageByPage() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive((1...600).map { Transaction.sample($0) })
            try await server.store.arrive(accounts: [.sample(1)])
            try await server.store.arrive((601...700).map { Transaction.sample($0) })
            var stream = try await server.connect(after: "1")
            for revision in 2...701 {
                let event = try #require(try await stream.next())
                #expect(event.id == String(revision))
                #expect((event.name == "account") == (revision == 601))
            }
        }
    }

    @Test func aChangeOfTheAccountThatTheTopicLostIsReadFromTheDatabase() async throws {
        try await StreamServer.run { server in
            var stream = try await server.connect()
            try await server.store.arrive(accounts: [.sample(1)])
            try await server.store.arrive(.sample(1))
            try await server.handOn(skipping: 1)
            #expect(try await stream.next()?.accountChange.revision == 1)
            #expect(try await stream.next()?.change.revision == 2)
            // If no event follows it, the heartbeat finds it.
            try await server.store.arrive(accounts: [.sample(2)])
            let heartbeat = QueueHeartbeat(
                hub: server.hub,
                store: server.store.reads,
                interval: .seconds(15),
                logger: quiet
            )
            await heartbeat.beat()
            #expect(try await stream.next()?.accountChange.revision == 3)
        }
    }

    @Test func theQueueAsADocumentTellsOfTransactionsOnly() async throws {
        try await StreamServer.run { server in
            try await server.store.arrive(.sample(1))
            try await server.store.arrive(accounts: [.sample(1)])
            let (_, body) = try await server.send(.GET, Routes.queueTransactions)
            let response = try JSONDecoder().decode(QueueResponse.self, from: body)
            #expect(response.revision == 2)
            #expect(response.transactions.map(\.transaction) == [.sample(1)])
        }
    }
}
