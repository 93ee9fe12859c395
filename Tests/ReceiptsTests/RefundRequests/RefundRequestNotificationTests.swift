import ClockAndIDs
import EventTypes
import Foundation
import Messaging
import Postgres
import ReceiptValidation
import TestSupport
import Testing

@testable import Receipts

/// The notifications about buyers' requests for refunds, on a real PostgreSQL and over real HTTP.
@Suite(.timeLimit(.minutes(10))) struct RefundRequestNotificationTests {
    private typealias Club = ClubSubscription

    private func changed(
        _ transaction: Transaction,
        _ state: RequestedRefund.State = .open,
        number: Int = 1
    ) throws -> ReceivedEvent {
        var request = RequestedRefund(
            number: number,
            of: transaction,
            because: .unsatisfied,
            at: TestChain.now
        )
        request.state = state
        return try .of(RefundRequestChanged(request: request))
    }

    private func kinds(_ told: [JWSNotification]) -> [String] { told.map(\.notificationType) }

    @Test func eachRequestAndEachDeclineIsNotifiedOnce() async throws {
        try await withNotifications { store in
            let bought = purchased(1)
            let events = [
                try ReceivedEvent.of(.transactionPurchased, bought),
                try changed(bought), try changed(bought, .declined),
                try changed(bought, number: 2),
            ]
            try await store.receipts.apply(events)
            try await store.receipts.apply(events)
            try await store.untilSent(4)
            let told = try store.sent()
            #expect(
                kinds(told).sorted() == [
                    "CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST", "ONE_TIME_CHARGE",
                    "REFUND_DECLINED",
                ]
            )
            let reasons = told.compactMap { $0.data?.consumptionRequestReason }
            #expect(reasons == ["UNSATISFIED_WITH_PURCHASE", "UNSATISFIED_WITH_PURCHASE"])
        }
    }

    @Test func anApprovalIsReportedByTheRefundAlone() async throws {
        try await withNotifications { store in
            let bought = purchased(1, type: .nonConsumable)
            try await store.receipts.apply([
                .of(.transactionPurchased, bought), changed(bought), changed(bought, .approved),
            ])
            try await store.untilSent(1)
            #expect(kinds(try store.sent()) == ["ONE_TIME_CHARGE"])
        }
    }

    @Test func aSubscriptionIsAskedAboutWithItsRenewalInfo() async throws {
        try await withNotifications { store in
            let transaction = Club.transaction(Club.begun.period)
            try await store.receipts.apply([
                .of(.transactionPurchased, transaction),
                .of(Club.change(Club.begun, .purchased, making: Club.first)),
                changed(transaction),
            ])
            try await store.untilSent(2)
            let told = try store.sent()
            let asked = try #require(told.first { $0.notificationType == "CONSUMPTION_REQUEST" })
            #expect(asked.data?.status == 1 && asked.data?.signedRenewalInfo != nil)
            let dates = told.map(\.signedDate)
            #expect(Set(dates).count == 2, "Each notification has a later date.")
        }
    }
}

extension ReceivedEvent {
    fileprivate static func of(_ change: RefundRequestChanged) throws -> ReceivedEvent {
        ReceivedEvent(
            id: EventID(time: TestChain.now),
            type: .refundRequestChanged,
            topic: Topics.paymentsTransactions.name,
            key: change.request.accountID.rawValue,
            subject: change.request.transactionID.rawValue,
            time: TestChain.now,
            data: try EventCoding.encode(change)
        )
    }
}
