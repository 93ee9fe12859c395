import EventTypes
import Foundation
import Messaging
import ReceiptValidation
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// The notifications about subscriptions that merchants' servers receive, on a real PostgreSQL and
/// over real HTTP.
@Suite(.timeLimit(.minutes(10))) struct SubscriptionNotificationTests {
    private typealias Club = ClubSubscription

    private static func began() throws -> [ReceivedEvent] {
        [
            try .of(.transactionPurchased, Club.transaction(Club.begun.period)),
            try .of(Club.change(Club.begun, .purchased, making: Club.first)),
        ]
    }

    private static func renewed() throws -> [ReceivedEvent] {
        [
            try .of(.transactionPurchased, Club.transaction(Club.renewed.period)),
            try .of(Club.change(Club.renewed, .renewed, making: Club.second)),
        ]
    }

    private static func kinds(_ told: [JWSNotification]) -> [String] {
        told.map { [$0.notificationType, $0.subtype].compactMap(\.self).joined(separator: " ") }
    }

    @Test func eachChangeIsNotifiedOnceWithItsRenewalInfo() async throws {
        try await withNotifications { store in
            let (began, renewed) = (try Self.began(), try Self.renewed())
            try await store.receipts.apply(began + renewed)
            try await store.receipts.apply(began + renewed + began)
            try await store.untilSent(2)
            let told = try store.sent()
            #expect(Self.kinds(told) == ["SUBSCRIBED INITIAL_BUY", "DID_RENEW"])
            #expect(told.map { $0.data?.status } == [1, 1])
            for (told, period) in zip(told, [Club.begun.period, Club.renewed.period]) {
                #expect(try store.transaction(in: told).transactionId == period.transactionID)
                let signed = try #require(told.data?.signedRenewalInfo)
                let info = try store.validator().verify(signed, as: JWSRenewalInfo.self)
                #expect(info.originalTransactionId == Club.first.rawValue)
                #expect(info.productId == "club" && info.autoRenewStatus == 1)
            }
        }
    }

    @Test func aLaterNotificationHasALaterTimeWhileTheClockStands() async throws {
        try await withNotifications { store in
            try await store.receipts.apply(try Self.began())
            try await store.receipts.apply(try Self.renewed())
            var cancelled = Club.renewed
            cancelled.version = 3
            cancelled.autoRenewOffReason = .customer
            try await store.receipts.apply([.of(Club.change(cancelled, .autoRenewTurnedOff))])
            try await store.untilSent(3)
            let dates = try store.sent().map(\.signedDate)
            #expect(Set(dates).count == 3 && dates == dates.sorted())
        }
    }

    /// Rule S521: the store was away when the period ended.
    @Test func whatIsToldLateIsDatedNowAndHasThePeriodsDates() async throws {
        try await withNotifications { store in
            var begun = Club.begun
            let start = TestChain.now.advanced(by: Club.month * -2)
            begun.period = Club.period(Club.first, 1, from: start)
            var ended = begun
            ended.version = 2
            ended.state = .expired
            ended.autoRenewOffReason = .customer
            ended.expirationIntent = .autoRenewDisabled
            try await store.receipts.apply([
                .of(.transactionPurchased, Club.transaction(begun.period)),
                .of(Club.change(begun, .purchased, making: Club.first)),
                .of(Club.change(ended, .expired)),
            ])
            try await store.untilSent(2)
            let told = try #require(try store.sent().last)
            #expect(Self.kinds([told]) == ["EXPIRED VOLUNTARY"])
            func date(_ time: StoreTime) -> Date {
                Date(timeIntervalSince1970: Double(time.millisecondsSinceEpoch) / 1000)
            }
            #expect(told.signedDate >= date(TestChain.now))
            let signed = try #require(told.data?.signedRenewalInfo)
            let info = try store.validator().verify(signed, as: JWSRenewalInfo.self)
            #expect(info.renewalDate == date(begun.period.end))
            #expect(try store.transaction(in: told).expiresDate == begun.period.end)
        }
    }

    @Test func aRefundIsNotifiedOnceByTheSubscription() async throws {
        try await withNotifications { store in
            try await store.receipts.apply(try Self.began())
            let refund = [
                try ReceivedEvent.of(
                    .transactionRefunded,
                    Club.transaction(Club.begun.period, version: 3, isRefunded: true)
                ),
                try .of(Club.change(Club.refunded, .refunded, refunding: Club.first)),
            ]
            try await store.receipts.apply(refund)
            try await store.receipts.apply(refund)
            try await store.untilSent(3)
            let told = Array(try store.sent().dropFirst())
            #expect(
                Self.kinds(told) == ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "REFUND"]
            )
            #expect(told.map { $0.data?.status } == [5, 5])
            #expect(
                try told.allSatisfy { try store.transaction(in: $0).revocationDate != nil }
            )
        }
    }

    @Test func theHistoryOfATransactionIsThatOfItsSubscription() async throws {
        try await withNotifications { store in
            try await store.receipts.apply(try Self.began() + Self.renewed())
            try await store.untilSent(2)
            let end = TestChain.now.advanced(by: .seconds(60)).millisecondsSinceEpoch
            for id in [Club.first, Club.second] {
                let body = """
                    {"startDate":\(end - 120_000),"endDate":\(end),"transactionId":"\(id)"}
                    """
                let query = try NotificationHistoryQuery(
                    Data(body.utf8),
                    in: .sandbox,
                    at: TestChain.now
                )
                // Other databases of the cluster may delay the visibility of rows.
                try await eventually("both notifications are found by \(id)") {
                    let found = try await store.handler.history(
                        of: NotificationsUnderTest.bundle,
                        query,
                        after: nil
                    )
                    return found.records.count == 2 ? true : nil
                }
            }
        }
    }

    @Test func aNewLeafSignsEverythingInANotification() async throws {
        try await withNotifications { store in
            try await store.receipts.apply(try Self.began())
            let rotated = store.rotated(to: try TestChain().signingChain())
            // The transaction was signed with the former leaf, the notification is not.
            try await rotated.receipts.apply([
                .of(Club.change(Club.refunded, .ended))
            ])
            try await rotated.untilSent(2)
            for told in try rotated.sent() {
                _ = try rotated.transaction(in: told)
                let signed = try #require(told.data?.signedRenewalInfo)
                _ = try rotated.validator().verify(signed, as: JWSRenewalInfo.self)
            }
        }
    }

    @Test func aRequestedNotificationHasTheRenewalInfoToo() async throws {
        try await withNotifications { store in
            try await store.receipts.apply(try Self.began())
            _ = try await store.handler.send(
                NotificationRequest(notificationType: "PRICE_CHANGE", transactionId: Club.first),
                in: NotificationsUnderTest.bundle
            ).get()
            try await store.untilSent(2)
            let told = try #require(try store.sent().last)
            #expect(told.notificationType == "PRICE_CHANGE" && told.data?.status == 1)
            #expect(told.data?.signedRenewalInfo != nil)
        }
    }
}
