import EventTypes
import Foundation
import Messaging
import Testing
import TestSupport

@testable import Receipts

/// The transactions of periods that an upgrade has ended.
@Suite(.timeLimit(.minutes(10))) struct UpgradedPeriodTests {
    private typealias Club = ClubSubscription

    /// The first period, ended by an upgrade to the second.
    private static func upgrade() -> SubscriptionChanged {
        var upgraded = Club.begun
        upgraded.version = 2
        var first = Club.begun.period
        first.earlyEnd = EarlyEnd(time: TestChain.now, reason: .upgraded)
        upgraded.earlierPeriod = first
        upgraded.period = Club.period(Club.second, 1, from: TestChain.now)
        var change = Club.change(upgraded, .upgraded, making: Club.second)
        change.changedPeriods = [first]
        return change
    }

    private static func events() throws -> [ReceivedEvent] {
        [
            try .of(.transactionPurchased, Club.transaction(Club.begun.period)),
            try .of(Club.change(Club.begun, .purchased, making: Club.first)),
            try .of(.transactionPurchased, Club.transaction(upgrade().subscription.period)),
            try .of(upgrade()),
        ]
    }

    private static func payload(
        of period: PaidPeriod,
        in receipts: ReceiptsUnderTest
    ) async throws -> SignedTransactionPayload {
        let receipt = try #require(try await receipts.receipt(of: Club.transaction(period)))
        let part = try #require(receipt.split(separator: ".").dropFirst().first)
        let payload = try #require(StrictBase64.decode(part))
        return try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(payload))
    }

    @Test func anUpgradedPeriodIsSignedAgainOnce() async throws {
        try await withReceipts { receipts in
            let events = try Self.events()
            try await receipts.apply(Array(events.prefix(2)))
            try await receipts.apply(Array(events.suffix(2)))
            try await receipts.apply(events)
            let old = try await Self.payload(of: Club.begun.period, in: receipts)
            #expect(old.isUpgraded == true && old.revocationDate == nil)
            let new = try await Self.payload(of: Self.upgrade().subscription.period, in: receipts)
            #expect(new.isUpgraded == nil)
            let published = try await receipts.published().map(\.type)
            #expect(published == [.receiptIssued, .receiptIssued, .receiptReissued])
        }
    }

    @Test func aPeriodStaysUpgradedWhenItIsRefunded() async throws {
        try await withReceipts { receipts in
            try await receipts.apply(try Self.events())
            var refunded = Club.transaction(Club.begun.period, version: 3)
            refunded.refunds = [.sample(1, 100)]
            try await receipts.apply([.of(.transactionRefunded, refunded)])
            let payload = try await Self.payload(of: Club.begun.period, in: receipts)
            #expect(payload.isUpgraded == true && payload.revocationType == "REFUND_PRORATED")
            let last = try #require(try await receipts.published().last)
            let event = try EventCoding.decode(ReceiptReissued.self, from: last.data)
            #expect(event.signing.isUpgraded == true)
        }
    }

    private func withReceipts(
        _ body: @Sendable (ReceiptsUnderTest) async throws -> Void
    ) async throws {
        let chain = try TestChain().signingChain()
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                try await body(ReceiptsUnderTest(client, chain: chain))
            }
        }
    }
}
