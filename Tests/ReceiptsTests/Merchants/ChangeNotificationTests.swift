import EventTypes
import Messaging
import Postgres
import ReceiptValidation
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// The notifications of what happens to a purchase later, on a real PostgreSQL and over real HTTP.
@Suite(.timeLimit(.minutes(10))) struct ChangeNotificationTests {
    @Test func eachRefundAndEachReversalIsNotifiedOnce() async throws {
        let versions = [
            purchased(),
            purchased(version: 3, refunds: [.sample(1, 100)]),
            purchased(
                version: 4,
                revokedAt: TestChain.now,
                refunds: [.sample(1, 100), .sample(2, 197, revokes: true)]
            ),
            purchased(
                version: 5,
                refunds: [.sample(1, 100), .sample(2, 197, revokes: true, isReversed: true)]
            ),
            purchased(
                version: 6,
                refunds: [
                    .sample(1, 100, isReversed: true),
                    .sample(2, 197, revokes: true, isReversed: true),
                ]
            ),
        ]
        let types: [EventType] = [
            .transactionPurchased, .transactionRefunded, .transactionRefunded,
            .transactionRefundReversed, .transactionRefundReversed,
        ]
        let events = try zip(types, versions).map { try ReceivedEvent.of($0, $1) }
        let expected = [
            "ONE_TIME_CHARGE", "REFUND", "REFUND", "REFUND_REVERSED", "REFUND_REVERSED",
        ]
        try await withNotifications { store in
            for event in events { try await store.receipts.apply([event]) }
            try await store.untilSent(5)
            #expect(try store.sent().map(\.notificationType).sorted() == expected)
            let shares = try store.sent().map {
                try store.transaction(in: $0).revocationPercentage ?? 0
            }
            #expect(shares.sorted() == [0, 0, 33_670, 33_670, 100_000])
            // Everything comes again, also after the log of notifications was emptied.
            try await store.receipts.apply(events)
            try await store.receipts.client.withConnection { connection in
                _ = try connection.execute("DELETE FROM notifications")
            }
            for event in events.reversed() { try await store.receipts.apply([event]) }
            #expect(try await store.states().isEmpty)
        }
        // What is met at once is sent like what was met one by one.
        try await withNotifications { store in
            try await store.receipts.apply(events.reversed())
            try await store.untilSent(5)
            #expect(try store.sent().map(\.notificationType).sorted() == expected)
        }
    }

    @Test func aDisputeIsToldAsARefundAndItsEndAsAReversal() async throws {
        var taken = Refund.sample(1, 297, revokes: true)
        taken.dispute = "dp_1"
        var won = taken
        won.reversedAt = TestChain.now
        let events = [
            try ReceivedEvent.of(.transactionPurchased, purchased()),
            try ReceivedEvent.of(
                .transactionRefunded,
                purchased(version: 3, revokedAt: TestChain.now, refunds: [taken])
            ),
            try ReceivedEvent.of(
                .transactionRefundReversed,
                purchased(version: 4, refunds: [won])
            ),
        ]
        try await withNotifications { store in
            for event in events { try await store.receipts.apply([event]) }
            try await store.untilSent(3)
            let told = try store.sent().map { told in
                (told.notificationType, try store.transaction(in: told).revocationReason)
            }
            let reasons = Dictionary(uniqueKeysWithValues: told)
            // 0 is Apple's "other"; 1 would blame the app.
            let expected: [String: Int?] = [
                "ONE_TIME_CHARGE": nil, "REFUND": 0, "REFUND_REVERSED": nil,
            ]
            #expect(reasons == expected)
        }
    }

    @Test func aSharedPeriodIsToldFromItsBeginningToItsEnd() async throws {
        var share = ClubSubscription.transaction(ClubSubscription.begun.period, version: 1)
        share.id = TransactionID(number: 2_000_000_000_011)
        share.originalID = share.id
        share.accountID = AccountID(unchecked: "bob")
        share.reason = .familyShared
        share.sharedFrom = ClubSubscription.first
        share.price = .zero(ClubSubscription.usd)
        share.subscription?.paidBy = ClubSubscription.first
        share.subscription?.shared = TransactionPeriod.Shared(began: .purchased, state: .active)
        var extended = share
        extended.version = 2
        extended.subscription?.end = ClubSubscription.begun.period.end.advanced(by: .seconds(60))
        extended.subscription?.shared?.followed = .extended
        var taken = extended
        taken.version = 3
        taken.revokedAt = TestChain.now
        taken.refunds = [
            Refund(number: 1, amount: share.price, refundedAt: TestChain.now, revokes: true)
        ]
        let events: [ReceivedEvent] = [
            try .of(.transactionPurchased, share), try .of(.transactionExtended, extended),
            try .of(.transactionRefunded, taken),
        ]
        let expected = ["RENEWAL_EXTENDED", "REVOKE", "SUBSCRIBED"]
        try await withNotifications { store in
            for event in events { try await store.receipts.apply([event]) }
            try await store.untilSent(3)
            #expect(try store.sent().map(\.notificationType).sorted() == expected)
            let owners = try store.sent().map { try store.transaction(in: $0).inAppOwnershipType }
            #expect(Set(owners.map { "\($0)" }) == ["FAMILY_SHARED"])
            // Everything comes again, and nobody is told again.
            for event in events { try await store.receipts.apply([event]) }
            #expect(try await store.states().count == 3)
        }
    }
}
