import EventTypes
import Foundation
import Messaging
import Postgres
import StoreTracing
import Testing
import TestSupport

@testable import Receipts

/// An account token and the copies of its purchase, on a real PostgreSQL.
@Suite(.timeLimit(.minutes(10))) struct AppAccountTokenTests {
    private let chain: SigningChain

    init() throws {
        chain = try TestChain().signingChain()
    }

    /// Runs a test with a purchase, its copies, and a handler that signs in batches of three.
    private func withCopies(
        _ count: Int64,
        _ body: @Sendable (ReceiptsUnderTest, AppAccountTokenHandler) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts", poolSize: 4) { client in
                let receipts = ReceiptsUnderTest(client, chain: chain)
                var events = [
                    try ReceivedEvent.of(
                        .transactionPurchased,
                        purchased(1, type: .nonConsumable)
                    )
                ]
                for number in 2...(count + 1) {
                    let copy = purchased(
                        number,
                        originalNumber: 1,
                        state: .restored,
                        type: .nonConsumable
                    )
                    events.append(try .of(.transactionRestored, copy))
                }
                try await receipts.apply(events)
                let handler = AppAccountTokenHandler(
                    receipts: ReceiptStore(),
                    store: ServerAPIStore(),
                    client: client,
                    signer: ReceiptSigner(chain: chain, environment: .sandbox),
                    now: { TestChain.now },
                    batch: 3
                )
                try await body(receipts, handler)
            }
        }
    }

    private func tokens(_ receipts: ReceiptsUnderTest, _ count: Int64) async throws -> [String?] {
        var tokens: [String?] = []
        for number in 1...(count + 1) {
            let jws = try #require(
                try await receipts.receipt(of: purchased(number, originalNumber: 1))
            )
            let payload = try ReceiptVerifier(root: chain.rootCertificate).payload(of: jws)
            tokens.append(
                try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(payload))
                    .appAccountToken
            )
        }
        return tokens
    }

    private static let first = "11111111-1111-4111-8111-111111111111"
    private static let second = "22222222-2222-4222-8222-222222222222"

    @Test(arguments: [Int64(1), 5, 6, 10])
    func everyCopyIsSignedAgainHoweverManyBatchesThatTakes(count: Int64) async throws {
        try await withCopies(count) { receipts, handler in
            let id = TransactionID(number: 1)
            try await handler.set(Self.first, of: id, in: purchased().bundleID)
            #expect(try await tokens(receipts, count).allSatisfy { $0 == Self.first })
            let places = try await receipts.count(
                "SELECT count(DISTINCT history_position) FROM signed_transactions"
            )
            #expect(places == count + 1)
        }
    }

    @Test func ofTwoTokensAtOnceOneIsInEveryCopy() async throws {
        try await withCopies(20) { receipts, handler in
            let id = TransactionID(number: 1)
            for _ in 0..<5 {
                async let one: Void = handler.set(Self.first, of: id, in: purchased().bundleID)
                async let other: Void = handler.set(Self.second, of: id, in: purchased().bundleID)
                _ = try await (one, other)
                #expect(Set(try await tokens(receipts, 20)).count == 1)
            }
        }
    }

    /// A page of the history ends at a position, so a change with a lower one must not come later.
    @Test func aChangeOfAnAccountWaitsForTheOneBeforeIt() async throws {
        try await withCopies(1) { receipts, handler in
            let purchase = try ReceivedEvent.of(.transactionPurchased, purchased(9))
            let setting = try await receipts.client.withTransaction { connection in
                try receipts.handler.apply([purchase], on: connection)
                let setting = Task {
                    try await handler.set(
                        Self.first,
                        of: TransactionID(number: 1),
                        in: purchased().bundleID
                    )
                }
                var (isWaiting, isDone) = (false, false)
                while !isWaiting, !isDone {
                    let row = try #require(
                        try connection.query(
                            """
                            SELECT EXISTS (
                                SELECT FROM pg_locks
                                WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))
                            ), EXISTS (SELECT FROM outbox WHERE type = 'receipt.reissued.v1')
                            """
                        ).first
                    )
                    (isWaiting, isDone) = try row.decode(Bool.self, Bool.self)
                }
                #expect(isWaiting && !isDone)
                return setting
            }
            try await setting.value
            let positions = try await receipts.client.withConnection { connection in
                try connection.query(
                    """
                    SELECT transaction_id FROM signed_transactions ORDER BY history_position
                    """
                ).map { try $0.decode(Int64.self) }
            }
            #expect(positions.first == 9, "The purchase was first, and has the lowest position.")
        }
    }
}

extension AppAccountTokenHandler {
    /// Sets a token in a test that is not about traces.
    fileprivate func set(
        _ token: String,
        of id: TransactionID,
        in bundle: BundleID
    ) async throws {
        try await set(token, of: id, in: bundle, trace: .begin())
    }
}
