import EventTypes
import Messaging
import Postgres
import StoreAPI
import TestSupport
import Testing

@testable import Payments

/// Two instances with one database, one of them on a machine whose clock is a day ahead.
@Suite(.timeLimit(.minutes(10))) struct WrongClockTests {
    private func instance(
        _ database: TestDatabase,
        ahead seconds: Int64,
        _ body: (Store) async throws -> Void
    ) async throws {
        let policy = AttemptPolicy(
            lease: .milliseconds(300),
            callsMax: 3,
            approvalExpiry: .seconds(3600)
        )
        try await database.withClient(
            role: PaymentsMigrations.role,
            machineClock: MachineClock(ahead: seconds).now
        ) { client in
            let store = Store(
                client: client,
                policy: policy,
                now: { ProcessClock(client: client).now },
                machineNow: { client.machineTime }
            )
            try await body(store)
        }
    }

    @Test(arguments: [86_400, -86_400] as [Int64])
    func anAttemptThatItLeavesIsContinuedAtOnce(ahead seconds: Int64) async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database async throws in
            try await instance(database, ahead: seconds) { (wrong: Store) async throws in
                try await wrong.sell(product())
                // The payment is accepted but never carried out, because the instance dies.
                let id = try await wrong.add(request(), key: "1").id
                try await instance(database, ahead: 0) { (right: Store) async throws in
                    try await eventually("the attempt to be taken up") {
                        _ = try await right.runner.recover()
                        await right.runner.drain()
                        return try await right.load(id).state == .purchased ? () : nil
                    }
                    let time = try await right.load(id).requestedAt
                    let now = ProcessClock(client: right.client).now
                    // The wrong clock is a day away; a busy machine took its time.
                    #expect(abs(now.duration(since: time) / .seconds(1)) < 3600)
                }
            }
        }
    }

    @Test func itExpiresNoApprovalOfAnother() async throws {
        try await withTestDatabase(migrations: PaymentsMigrations.all) { database async throws in
            try await instance(database, ahead: 0) { (right: Store) async throws in
                try await right.sell(product())
                let added = try await right.buy(request(method: .needsApproval), key: "1")
                #expect(added.state == .deferred)
                try await instance(database, ahead: 86_400) { (wrong: Store) async throws in
                    // This is the instance's first query; it has no connection yet.
                    #expect(try await wrong.runner.recover() == 0)
                    #expect(try await right.load(added.id).state == .deferred)
                }
            }
        }
    }
}
