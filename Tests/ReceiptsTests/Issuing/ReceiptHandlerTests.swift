import EventTypes
import Foundation
import Messaging
import Postgres
import TestSupport
import Testing

@testable import Receipts

/// The handler and its SQL on a real PostgreSQL, with the service's own role.
@Suite(.timeLimit(.minutes(10))) struct ReceiptHandlerTests {
    private let chain: SigningChain

    init() throws {
        chain = try TestChain().signingChain()
    }

    private func withReceipts(
        _ body: @Sendable (ReceiptsUnderTest) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                try await body(ReceiptsUnderTest(client, chain: chain))
            }
        }
    }

    private func content(
        _ receipt: String?,
        in environment: StoreEnvironment = .sandbox
    ) throws -> SignedTransactionPayload {
        let receipt = try #require(receipt)
        let verifier = ReceiptVerifier(
            root: chain.rootCertificate,
            environment: environment.rawValue
        )
        let payload = try verifier.payload(of: receipt)
        return try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(payload))
    }

    @Test func aPeriodThatBeginsLaterIsSignedToday() async throws {
        try await withReceipts { receipts in
            var renewal = purchased(1, reason: .renewal, type: .autoRenewableSubscription)
            let start = TestChain.now.advanced(by: .seconds(86_400))
            renewal.subscription = TransactionPeriod(
                terms: SubscriptionTerms(
                    groupID: SubscriptionGroupID(unchecked: "club"),
                    level: 1,
                    period: SubscriptionPeriod(1, .month)
                ),
                start: start,
                end: start.advanced(by: .seconds(30 * 86_400))
            )
            try await receipts.apply([.of(.transactionPurchased, renewal, in: .sandbox)])
            let payload = try content(try await receipts.receipt(of: renewal))
            #expect(payload.purchaseDate == start && payload.signedDate < start)
        }
    }

    @Test func aTransactionOfAnotherEnvironmentIsNotSignedAndNotLost() async throws {
        try await withReceipts { receipts in
            let foreign = purchased(2)
            let batch: [ReceivedEvent] = [
                try .of(.transactionPurchased, purchased(1), in: .sandbox),
                try .of(.transactionPurchased, foreign, in: .production),
            ]
            let error = await #expect(throws: ForeignEnvironment.self) {
                try await receipts.apply(batch)
            }
            // The consumer keeps its place and retries, as if the database were unavailable.
            #expect(error?.isRetriable == true && error?.transactionID == foreign.id)
            #expect(receipts.foreign.all.map(\.environment) == ["Production"])
            #expect(try await receipts.issued().isEmpty)

            let mended = ReceiptsUnderTest(
                receipts.client,
                chain: chain,
                environment: .production
            )
            try await mended.apply([batch[1]])
            let content = try content(try await mended.receipt(of: foreign), in: .production)
            #expect(content.environment == .production)
        }
    }

    @Test func aBatchOfPurchasesGivesEachOneReceiptAndOneEvent() async throws {
        try await withReceipts { receipts in
            let transactions = (1...100).map { number in
                purchased(Int64(number), account: "account-\(number % 7)")
            }
            try await receipts.apply(
                transactions.reversed().map { try .of(.transactionPurchased, $0) }
            )
            for transaction in transactions {
                let content = try content(try await receipts.receipt(of: transaction))
                #expect(content.transactionId == transaction.id)
            }
            let issued = try await receipts.issued()
            #expect(issued.map(\.transaction) == transactions)
            #expect(Set(issued.map(\.signingChainID)) == [chain.id])
            #expect(issued.allSatisfy { $0.issuedAt == TestChain.now })
        }
    }

    @Test func anEventSaysTheHashOfThePayloadThatIsServed() async throws {
        try await withReceipts { receipts in
            try await receipts.apply([try .of(.transactionPurchased, purchased())])
            let served = try #require(try await receipts.receipt(of: purchased()))
            let payload = try ReceiptVerifier(root: chain.rootCertificate).payload(of: served)
            let digest = try OpenSSL.run(
                ["dgst", "-sha256", "-r", "payload"],
                files: ["payload": payload]
            )
            let issued = try #require(try await receipts.issued().first)
            #expect(digest.output.hasPrefix(issued.payloadSHA256))
        }
    }

    @Test func aMemberThatIsNotKnownIsPassedOn() async throws {
        func newer(_ event: ReceivedEvent) -> ReceivedEvent {
            ReceivedEvent(
                id: event.id,
                type: event.type,
                topic: event.topic,
                key: event.key,
                subject: event.subject,
                time: event.time,
                data: NewerJSON.adding(to: event.data)
            )
        }
        let purchase = newer(try .of(.transactionPurchased, purchased()))
        let refund = newer(
            try .of(.transactionRefunded, purchased(version: 3, refunds: [.sample(1, 100)]))
        )
        try await withReceipts { receipts in
            try await receipts.apply([purchase])
            try await receipts.apply([refund])
            let published = try await receipts.published()
            #expect(published.map(\.type) == [.receiptIssued, .receiptReissued])
            for (event, cause) in zip(published, [purchase, refund]) {
                let sent = try #require(PlainJSON.rangeOfObject("transaction", in: cause.data))
                let range = try #require(PlainJSON.rangeOfObject("transaction", in: event.data))
                #expect(event.data[range] == cause.data[sent])
                #expect(
                    String(decoding: event.data[range], as: UTF8.self).contains(NewerJSON.member)
                )
            }
            #expect(try await receipts.issued().map(\.transaction) == [purchased()])
        }
    }

    @Test func theSamePurchaseAgainChangesNothing() async throws {
        try await withReceipts { receipts in
            let event = try ReceivedEvent.of(.transactionPurchased, purchased())
            try await receipts.apply([event])
            let first = try await receipts.receipt(of: purchased())
            // Applied without a place: the store itself detects existing receipts.
            try await receipts.apply([event, event])
            try await receipts.apply([event])
            #expect(try await receipts.receipt(of: purchased()) == first)
            #expect(try await receipts.issued().count == 1)
            #expect(try await receipts.count("SELECT count(*) FROM signed_transactions") == 1)
        }
    }

    @Test(arguments: RandomSeed.ofThisRun)
    func replicasThatApplyTheSameBatchIssueOnce(seed: RandomSeed) async throws {
        try await withReceipts { receipts in
            let events = try (1...50).map { number in
                try ReceivedEvent.of(.transactionPurchased, purchased(Int64(number)))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for stream in 1...4 {
                    var random = seed.generator(stream)
                    let shuffled = events.shuffled(using: &random)
                    group.addTask { try await receipts.apply(shuffled) }
                }
                try await group.waitForAll()
            }
            #expect(try await receipts.issued().count == 50)
            #expect(try await receipts.count("SELECT count(*) FROM signing_chains") == 1)
        }
    }

    @Test func aRefundSignsTheReceiptAgainAndIssuesNothing() async throws {
        try await withReceipts { receipts in
            let refunded = purchased(version: 3, revokedAt: TestChain.now)
            try await receipts.apply([try .of(.transactionPurchased, purchased())])
            try await receipts.apply([try .of(.transactionRefunded, refunded)])
            try await receipts.apply([try .of(.transactionPurchased, purchased())])
            let content = try content(try await receipts.receipt(of: refunded))
            #expect(content.revocationDate == TestChain.now)
            #expect(content.revocationReason == 0)
            #expect(try await receipts.issued().map(\.transaction) == [purchased()])
            #expect(try await receipts.count("SELECT count(*) FROM signed_transactions") == 1)
        }
    }

    @Test func aRefundBeforeThePurchaseEndsRevoked() async throws {
        try await withReceipts { receipts in
            let refunded = purchased(version: 3, revokedAt: TestChain.now)
            try await receipts.apply([try .of(.transactionRefunded, refunded)])
            try await receipts.apply([try .of(.transactionPurchased, purchased())])
            let content = try content(try await receipts.receipt(of: refunded))
            #expect(content.revocationDate == TestChain.now)
            #expect(try await receipts.issued().map(\.transaction) == [refunded])
        }
    }

    @Test(arguments: [false, true])
    func aRefundInTheBatchOfItsPurchaseIsOneReceipt(_ refundFirst: Bool) async throws {
        try await withReceipts { receipts in
            let refunded = purchased(version: 3, revokedAt: TestChain.now)
            let events = [
                try ReceivedEvent.of(.transactionPurchased, purchased()),
                try ReceivedEvent.of(.transactionRefunded, refunded),
            ]
            try await receipts.apply(refundFirst ? events.reversed() : events)
            let content = try content(try await receipts.receipt(of: refunded))
            #expect(content.revocationDate == TestChain.now)
            #expect(try await receipts.issued().map(\.transaction) == [refunded])
        }
    }

    @Test func aRestoredTransactionHasAReceiptOfItsOwn() async throws {
        try await withReceipts { receipts in
            let first = purchased(
                1,
                type: .nonConsumable,
                quantity: 1,
                purchasedAt: TestChain.now.advanced(by: .seconds(-86_400))
            )
            var restored = purchased(
                2,
                originalNumber: 1,
                state: .restored,
                type: .nonConsumable,
                quantity: 1,
                price: .zero(Currency(unchecked: "USD"))
            )
            restored.originalPurchasedAt = first.purchasedAt
            try await receipts.apply([
                try .of(.transactionPurchased, first), try .of(.transactionRestored, restored),
            ])
            let content = try content(try await receipts.receipt(of: restored))
            #expect(content.originalTransactionId == first.id)
            #expect(content.originalPurchaseDate == first.purchasedAt)
            #expect(content.purchaseDate == restored.purchasedAt)
            #expect(content.price == 0)
            #expect(try await receipts.issued().map(\.transaction) == [first, restored])
        }
    }

    @Test func nobodyElseSeesAReceipt() async throws {
        try await withReceipts { receipts in
            try await receipts.apply([try .of(.transactionPurchased, purchased())])
            #expect(try await receipts.receipt(of: purchased()) != nil)
            #expect(try await receipts.receipt(of: purchased(), account: "mallory") == nil)
            #expect(try await receipts.receipt(of: purchased(), bundle: "com.other.app") == nil)
            #expect(try await receipts.receipt(of: purchased(99)) == nil)
        }
    }

    @Test func anotherKeyLeavesEarlierReceiptsAsTheyWereSigned() async throws {
        try await withReceipts { receipts in
            try await receipts.apply([try .of(.transactionPurchased, purchased(1))])
            let before = try await receipts.receipt(of: purchased(1))

            let nextChain = try TestChain().signingChain()
            let rotated = ReceiptsUnderTest(receipts.client, chain: nextChain)
            try await rotated.apply([
                try .of(.transactionPurchased, purchased(1)),
                try .of(.transactionPurchased, purchased(2)),
            ])
            #expect(try await rotated.receipt(of: purchased(1)) == before)
            _ = try content(before)
            let after = try #require(try await rotated.receipt(of: purchased(2)))
            #expect(throws: Never.self) {
                try ReceiptVerifier(root: nextChain.rootCertificate).payload(of: after)
            }
            // The first key is used again, as after a restart with the old files. There is no third
            // chain.
            try await receipts.apply([try .of(.transactionPurchased, purchased(3))])
            _ = try content(try await receipts.receipt(of: purchased(3)))
            #expect(try await receipts.count("SELECT count(*) FROM signing_chains") == 2)
            #expect(
                try await receipts.issued().map(\.signingChainID) == [
                    chain.id, nextChain.id, chain.id,
                ]
            )
        }
    }

    @Test func aFinishIsNotedOnceAndInWhateverOrder() async throws {
        try await withReceipts { receipts in
            let first = TestChain.now.advanced(by: .seconds(60))
            try await receipts.apply([try .finished(purchased(1), at: first)])
            try await receipts.apply([
                try .of(.transactionPurchased, purchased(1)),
                try .finished(purchased(1), at: first.advanced(by: .seconds(60))),
                try .finished(purchased(2, state: .failed, purchasedAt: nil), at: first),
            ])
            let noted = try await receipts.count(
                """
                SELECT count(*) FROM transaction_finishes
                WHERE transaction_id = \(Int64(1)) AND finished_at = \(first)
                """
            )
            #expect(noted == 1)
            #expect(try await receipts.count("SELECT count(*) FROM transaction_finishes") == 1)
            #expect(try await receipts.issued().count == 1)
        }
    }

    @Test func anEventThatCannotBeSignedSpoilsItsBatchAndLeavesNoTrace() async throws {
        try await withReceipts { receipts in
            await #expect(throws: ReceiptsError.self) {
                try await receipts.apply([
                    try .of(.transactionPurchased, purchased(1)),
                    try .of(.transactionPurchased, purchased(2, type: .unknown("rental"))),
                ])
            }
            let issued = try await receipts.issued()
            let receipt = try await receipts.receipt(of: purchased(1))
            #expect(issued.isEmpty)
            #expect(receipt == nil)
        }
    }

    @Test(arguments: [
        "DELETE FROM signed_transactions", "DELETE FROM signing_chains",
        "UPDATE signing_chains SET header = ''", "DELETE FROM transaction_finishes",
        "UPDATE signed_transactions SET app_transaction_id = 1", "DELETE FROM outbox",
        "UPDATE app_transactions SET account_id = 'mallory'",
        "UPDATE transaction_finishes SET finished_at = now()", "DROP TABLE signed_transactions",
    ])
    func theServicesRoleCannotUndoWhatWasSigned(_ statement: String) async throws {
        try await withReceipts { receipts in
            let error = await #expect(throws: PostgresError.self) {
                try await receipts.client.withConnection { connection in
                    _ = try connection.execute("\(unsafe: statement)")
                }
            }
            #expect(error?.code == .insufficientPrivilege)
        }
    }
}
