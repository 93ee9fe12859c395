import EventTypes
import Logging
import Postgres
import StoreAPI
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// Lives a store's life until a backup, a life that is lost, and one with the backup.
///
/// The processor's books and the clock go on.
///
/// - Parameters:
///   - known: The life until the backup.
///   - lost: The life that the backup does not know.
///   - restored: The life with the backup.
///   - check: Judges the books at the end, beside those of the processor.
/// - Throws: An error of a life.
func restoring(
    _ known: @Sendable (Store) async throws -> Void,
    losing lost: @Sendable (Store) async throws -> Void,
    _ restored: @Sendable (Store) async throws -> Void,
    then check: @Sendable (Store, PostgresClient) async throws -> Void = { store, books in
        try await store.expectEveryCharge(in: books)
    }
) async throws {
    let role = PaymentsMigrations.role
    let clock = ManualClock(startTime)
    try await withTestDatabase(migrations: PaymentsMigrations.all) { processor in
        try await processor.withClient(role: role) { books in
            try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
                try await database.withClient(role: role) { client in
                    let store = Store(client: client, books: books, clock: clock)
                    try await store.sell(club())
                    try await known(store)
                    try await store.gaps.note()
                }
                try await database.withCopy { backup in
                    try await database.withClient(role: role) { client in
                        try await lost(Store(client: client, books: books, clock: clock))
                    }
                    clock.advance(by: .seconds(120))
                    try await backup.withClient(role: role) { client in
                        let store = Store(client: client, books: books, clock: clock)
                        try await restored(store)
                        try await check(store, books)
                    }
                }
            }
        }
    }
}

extension Store {
    /// Lives through days, on which answers are lost, calls are not made, and cards are chosen.
    func live(_ days: Int, _ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<days {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: processor.loseAnswers(1)
            case 1:
                _ = try await renewals.carryOut(limit: 10)
                _ = pending.take()
            case 2: try await chooseWorkingCard()
            default: break
            }
            // An advance would wait for the charges whose answers were lost.
            clock.advance(by: .seconds(86_400))
            try await renew()
            try await recover()
        }
    }

    /// Pays by a card that works, which is charged for what is owed.
    func chooseWorkingCard() async throws {
        let dunning = DunningHandler(renewals: renewals) { [runner] in await runner.end($0) }
        let attempts = try await client.withTransaction { connection in
            let owed = try dunning.owed(by: alice.accountKey, on: connection)
            let card = SandboxPaymentMethod.success.method
            return try dunning.charge(owed, by: card, on: connection)
        }
        dunning.didCommit(attempts)
        try await settle()
    }

    /// Gives the newest charge up, for which nobody has called.
    func giveUpNewestCharge() async throws {
        _ = pending.take()
        let open = try #require(try await transactions().last)
        let key = AttemptKey(transactionID: open.id, kind: .charge)
        _ = try await outcomes.settle([AttemptResult(key: key, outcome: .exhausted)])
    }

    /// Expects that the books have each charge of the processor's, and that the processor has each of theirs.
    ///
    /// What buyers have paid, less what was given back, is the same in both.
    func expectEveryCharge(in books: PostgresClient) async throws {
        let known = try await client.withConnection { connection in
            try connection.query(
                """
                SELECT attempt_id FROM processor_attempts
                WHERE outcome = 'charged' ORDER BY attempt_id
                """
            ).map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) }
        }
        #expect(try await madeCharges(in: books) == known)
        let purchased = try await transactions().filter { $0.state == .purchased }
        #expect(
            try await paid(in: books)
                == purchased.reduce(0) { $0 + $1.refundableAmount.minorUnits }
        )
        #expect(try await booksBalance())
        #expect(try await auditFindings() == [])
    }

    /// The charges that the processor has made.
    func madeCharges(in books: PostgresClient) async throws -> [AttemptID] {
        try await books.withConnection { connection in
            try connection.query(
                """
                SELECT idempotency_key FROM sandbox_processor.charges
                WHERE decline_reason IS NULL ORDER BY idempotency_key
                """
            ).map { AttemptID(bytes: try $0.decode(SIMD16<UInt8>.self)) }
        }
    }

    /// The minor units that the processor has charged, less those that it has given back.
    private func paid(in books: PostgresClient) async throws -> Int64 {
        try await books.withConnection { connection in
            try connection.query(
                """
                SELECT amount FROM sandbox_processor.charges WHERE decline_reason IS NULL
                UNION ALL SELECT -amount FROM sandbox_processor.refunds
                """
            ).map { try $0.decode(Int64.self) }.reduce(0, +)
        }
    }
}

extension Store {
    /// Notes that the store is seen.
    var gaps: BookGapHandler {
        BookGapHandler(
            client: client,
            machineNow: clock.machineNow,
            now: clock.now,
            logger: context.logger
        )
    }
}
