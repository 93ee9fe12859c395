import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import ReceiptValidation
import TestSupport
import Testing

@testable import Receipts

/// The notifications about extensions of all subscribers, on a real PostgreSQL and over real HTTP.
@Suite(.timeLimit(.minutes(10))) struct MassExtensionNotificationTests {
    private typealias Club = ClubSubscription

    private func request(_ number: Int64, isComplete: Bool = false) -> MassExtension {
        var request = MassExtension(
            number: number,
            bundleID: Club.begun.bundleID,
            productID: Club.begun.product.id,
            requestIdentifier: "outage-\(number)",
            days: 3,
            reasonCode: 3,
            storefronts: [Storefront(unchecked: "USA")],
            acceptedAt: TestChain.now
        )
        if isComplete {
            request.completedAt = TestChain.now
            request.succeededCount = 12
            request.failedCount = 1
        }
        return request
    }

    private func changed(
        _ request: MassExtension,
        failed: Subscription? = nil
    ) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: TestChain.now),
            type: .massExtensionChanged,
            topic: Topics.paymentsTransactions.name,
            key: failed?.accountID.rawValue ?? request.bundleID.rawValue,
            subject: failed?.id.rawValue ?? request.productID.rawValue,
            time: TestChain.now,
            data: try EventCoding.encode(
                MassExtensionChanged(request: request, failed: failed, changedAt: TestChain.now)
            )
        )
    }

    @Test func eachFailureAndEachSummaryIsNotifiedOnce() async throws {
        try await withNotifications { store in
            let events: [ReceivedEvent] = [
                try .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                try .of(Club.change(Club.begun, .purchased, making: Club.first)),
                try changed(request(1)),
                try changed(request(1), failed: Club.begun),
                try changed(request(1, isComplete: true)),
                try changed(request(2), failed: Club.begun),
            ]
            try await store.receipts.apply(events)
            try await store.receipts.apply(events)
            try await store.untilSent(4)
            let told = try store.sent()
            let kinds = told.map { [$0.notificationType, $0.subtype].compactMap(\.self) }
            #expect(
                kinds.map { $0.joined(separator: " ") }.sorted() == [
                    "RENEWAL_EXTENSION FAILURE", "RENEWAL_EXTENSION FAILURE",
                    "RENEWAL_EXTENSION SUMMARY", "SUBSCRIBED INITIAL_BUY",
                ]
            )
            let failures = told.filter { $0.subtype == "FAILURE" }
            #expect(failures.allSatisfy { $0.data?.status == 1 && $0.summary == nil })
            let summary = try #require(told.first { $0.subtype == "SUMMARY" })
            #expect(summary.data == nil)
            #expect(summary.summary?.requestIdentifier == "outage-1")
            #expect(summary.summary?.succeededCount == 12 && summary.summary?.failedCount == 1)
        }
    }
}
