import EventTypes
import Logging
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct FamilyHandlerTests {
    @Test func eachChangeIsAnEventOfTheWholeFamily() async throws {
        try await withStore { store in
            let family = try await store.family("ada", "ben")
            _ = try await store.families.include(
                "cleo",
                sharing: nil,
                in: family.id,
                by: .nora,
                trace: .begin()
            ).get()
            _ = try await store.families.remove("ben", from: family.id, by: .nora, trace: .begin())
                .get()
            let ended = try await store.families.end(family.id, by: .nora, trace: .begin()).get()
            #expect(ended.version == 4 && ended.members.isEmpty)
            let events = try await store.familyEvents()
            #expect(events.map(\.family.version) == [1, 2, 3, 4])
            #expect(events.allSatisfy { $0.act == .nora })
            #expect(
                events.map { $0.family.members.map(\.accountID.rawValue) } == [
                    ["ada", "ben"], ["ada", "ben", "cleo"], ["ada", "cleo"], [],
                ]
            )
            #expect(try await store.count("family_members") == 0)
        }
    }

    @Test func repeatingARequestChangesNothing() async throws {
        try await withStore { store in
            let family = try await store.family("ada", "ben")
            #expect(try await store.family("ada", "ben") == family)
            let same = try await store.families.include(
                "ben",
                sharing: true,
                in: family.id,
                by: .nora,
                trace: .begin()
            ).get()
            #expect(same == family)
            #expect(try await store.familyEvents().count == 1)
        }
    }

    /// The event names no administrator, and what was shared is taken away both ways.
    @Test func whoLeavesLosesWhatOthersShare() async throws {
        try await withStore { store in
            try await store.sellFilm()
            _ = try await store.family("alice", "ben", "cleo")
            _ = try await store.buy(request("film", price: usd(999)), key: "1")
            try await store.shareAll()
            #expect(try await store.shares().map(\.accountID) == ["ben", "cleo"])
            let ben = AccountKey(accountID: "ben", bundleID: alice.bundleID)
            for _ in 1...2 {
                #expect(try await store.families.leave(ben, trace: .begin()) == nil)
                try await store.shareAll()
                #expect(try await store.shares().map(\.accountID) == ["cleo"])
            }
            let events = try await store.familyEvents()
            #expect(events.map(\.family.version) == [1, 2] && events.last?.act == nil)
            let organizer = AccountKey(accountID: "alice", bundleID: alice.bundleID)
            #expect(
                try await store.families.leave(organizer, trace: .begin()) == .organizerStays
            )
            // The last of them ends the family.
            let cleo = AccountKey(accountID: "cleo", bundleID: alice.bundleID)
            #expect(try await store.families.leave(cleo, trace: .begin()) == nil)
            try await store.shareAll()
            #expect(try await store.shares().isEmpty)
            #expect(try await store.families.family(of: organizer) == nil)
        }
    }

    /// A child may have bought nothing yet, so a stranger is named and not refused.
    @Test func membersOfWhomNothingIsKnownAreNamed() async throws {
        try await withStore { store in
            try await store.sellFilm()
            _ = try await store.buy(request("film", price: usd(999)), key: "1")
            let family = try await store.family("alice", "ben", "cleo")
            try await store.shareAll()
            #expect(try await store.shares().map(\.accountID) == ["ben", "cleo"])
            // What the family shares says nothing about who gets it.
            #expect(try await store.families.strangers(in: family) == ["ben", "cleo"])
            let ben = AuthenticatedAccount(accountID: "ben", bundleID: alice.bundleID)
            _ = try await store.buy(request("film", price: usd(999)), key: "2", of: ben)
            #expect(try await store.families.strangers(in: family) == ["cleo"])
        }
    }

    /// The change is committed, so the administrator gets its answer without the names.
    @Test func strangersWhoCannotBeReadAreLogged() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            try await database.withClient { owner in
                try await owner.withConnection { connection in
                    _ = try connection.execute("ALTER TABLE accounts RENAME TO elsewhere")
                }
            }
            try await database.withClient(role: PaymentsMigrations.role) { client in
                let store = Store(client: client)
                let family = try await store.family("ada", "ben")
                let log = RecordedLog()
                let named = await store.families.strangers(afterChangeOf: family, log.logger)
                #expect(named.isEmpty)
                #expect(log.levels == [.warning])
                let line = try #require(log.lines.first)
                #expect(line.contains("\(family.id)") && line.contains("PostgresError"))
            }
        }
    }

    /// Each request sees nobody in a family; only the constraint keeps the account in one.
    @Test func ofTwoFamiliesAtOnceTheAccountIsInOne() async throws {
        try await withStore(poolSize: 8) { store in
            let families = try await withThrowingTaskGroup(
                of: Result<Family, FamilyRefusal>.self
            ) { group in
                for number in 1...8 {
                    group.addTask {
                        try await store.families.create(
                            FamilyRequest(
                                bundleID: alice.bundleID,
                                organizer: AccountID(unchecked: "organizer\(number)"),
                                members: ["ben"]
                            ),
                            by: .nora,
                            trace: .begin()
                        )
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let made = families.compactMap { try? $0.get() }
            #expect(made.count == 1)
            #expect(
                families.filter { $0 == .failure(.inAnotherFamily("ben")) }.count == 7
            )
            #expect(try await store.count("families") == 1)
            #expect(try await store.count("family_members") == 2)
        }
    }

    /// A family that waited on would make all purchases wait behind it.
    @Test func aChangeDoesNotWaitLongForSlowPurchases() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            let slow = PostgresSettings(
                url: database.url(role: PaymentsMigrations.role),
                applicationName: "slow",
                poolSize: 1
            )
            try await database.withClient(role: PaymentsMigrations.role) { client in
                let store = Store(client: client)
                try await withSession(slow) { session in
                    try await session.execute("BEGIN")
                    try await session.execute(
                        "INSERT INTO family_work (account_id, bundle_id) VALUES ('zoe', 'app')"
                    )
                    let error = await #expect(throws: PostgresError.self) {
                        _ = try await store.family("ada", "ben")
                    }
                    #expect(error?.code == .lockTimeout && error?.isRetriable == true)
                    try await store.note("ada")
                    try await session.execute("COMMIT")
                }
                _ = try await store.family("ada", "ben")
                #expect(try await store.count("families") == 1)
            }
        }
    }

    /// No purchase waits behind a request that is always refused.
    @Test func anOrganizerWhoWantsToLeaveTakesNoLock() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
            let slow = PostgresSettings(
                url: database.url(role: PaymentsMigrations.role),
                applicationName: "slow",
                poolSize: 1
            )
            try await database.withClient(role: PaymentsMigrations.role) { client in
                let store = Store(client: client)
                _ = try await store.family("ada", "ben")
                try await withSession(slow) { session in
                    try await session.execute("BEGIN")
                    try await session.execute(
                        "INSERT INTO family_work (account_id, bundle_id) VALUES ('zoe', 'app')"
                    )
                    // Whoever takes the lock of a change fails here.
                    let ada = AccountKey(accountID: "ada", bundleID: alice.bundleID)
                    let refusal = try await store.families.leave(ada, trace: .begin())
                    #expect(refusal == .organizerStays)
                    try await session.execute("COMMIT")
                }
            }
        }
    }

    @Test func aFamilyIsOfOneApp() async throws {
        try await withStore { store in
            let family = try await store.family("ada", "ben")
            let elsewhere = AccountKey(accountID: "ada", bundleID: BundleID(unchecked: "other"))
            #expect(try await store.families.family(of: elsewhere) == nil)
            let here = AccountKey(accountID: "ada", bundleID: alice.bundleID)
            #expect(try await store.families.family(of: here) == family)
            let page = try await store.families.families(in: alice.bundleID, after: nil)
            #expect(page.families == [family] && page.next == nil)
            let none = try await store.families.families(in: elsewhere.bundleID, after: nil)
            #expect(none.families.isEmpty)
        }
    }
}

extension Store {
    /// The families of the store.
    var families: FamilyHandler { FamilyHandler(client: client, now: context.now, didCommit: {}) }

    /// Makes a family in the tests' app.
    func family(_ organizer: AccountID, _ members: AccountID...) async throws -> Family {
        try await families.create(
            FamilyRequest(bundleID: alice.bundleID, organizer: organizer, members: members),
            by: .nora,
            trace: .begin()
        ).get()
    }

    /// The events of families, in the order of the log.
    func familyEvents() async throws -> [FamilyChanged] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT unpacked_json(data)::json FROM outbox
                WHERE type = \(EventType.familyChanged.rawValue) ORDER BY position
                """
            ).map { try $0.decode(PostgresJSON.self).decode(FamilyChanged.self) }
        }
    }
}
