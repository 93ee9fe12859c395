import Callbacks
import EventTypes
import Foundation
import Messaging
import Postgres
import ReceiptValidation
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// The notifications that merchants' servers receive, on a real PostgreSQL and over real HTTP.
@Suite(.timeLimit(.minutes(10))) struct NotificationTests {
    @Test func aPurchaseIsNotifiedOnceHoweverOftenItsEventComes() async throws {
        try await withNotifications { store in
            let purchase = try ReceivedEvent.of(.transactionPurchased, purchased())
            try await store.receipts.apply([purchase, purchase])
            try await store.receipts.apply([purchase])
            try await store.untilSent(1)
            let sent = try #require(try store.sent().first)
            #expect(sent.notificationType == "ONE_TIME_CHARGE")
            #expect(sent.version == "2.0")
            #expect(sent.data?.bundleId == "com.example.app")
            #expect(sent.data?.environment == "Sandbox")
            let receipt = try #require(sent.data?.signedTransactionInfo)
            #expect(try await store.receipts.receipt(of: purchased()) == receipt)
            #expect(try await store.states() == ["confirmed"])
        }
    }

    @Test func aRefundIsNotifiedOnceAndItsTransactionIsRevoked() async throws {
        try await withNotifications { store in
            let refunded = purchased(version: 3, revokedAt: TestChain.now)
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            try await store.receipts.apply([.of(.transactionRefunded, refunded)])
            try await store.receipts.apply([.of(.transactionRefunded, refunded)])
            try await store.untilSent(2)
            let sent = try store.sent()
            #expect(Set(sent.map(\.notificationType)) == ["ONE_TIME_CHARGE", "REFUND"])
            let refund = try #require(sent.first { $0.notificationType == "REFUND" })
            let content = try store.transaction(in: refund)
            #expect(content.revocationDate == TestChain.now)
            let charge = try #require(sent.first { $0.notificationType == "ONE_TIME_CHARGE" })
            #expect(try store.transaction(in: charge).revocationDate == nil)
        }
    }

    @Test func aPurchaseRefundedInTheSameBatchIsNotifiedAsBoth() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([
                .of(.transactionRefunded, purchased(version: 3, revokedAt: TestChain.now)),
                .of(.transactionPurchased, purchased()),
            ])
            try await store.untilSent(2)
            #expect(
                try Set(store.sent().map(\.notificationType)) == ["ONE_TIME_CHARGE", "REFUND"]
            )
        }
    }

    @Test func whatIsRestoredOrOwnedAlreadyIsNoCharge() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([
                .of(
                    .transactionRestored,
                    purchased(2, originalNumber: 1, state: .restored, type: .nonConsumable)
                ),
                .of(
                    .transactionPurchased,
                    purchased(3, originalNumber: 1, type: .nonConsumable)
                ),
            ])
            // Refunding it takes nothing away.
            try await store.receipts.apply([
                .of(
                    .transactionRefunded,
                    purchased(
                        3,
                        originalNumber: 1,
                        version: 3,
                        type: .nonConsumable,
                        revokedAt: TestChain.now
                    )
                )
            ])
            #expect(try await store.states().isEmpty)
        }
    }

    @Test func whatNamesAnEarlierTransactionAndIsNoCopyIsACharge() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([
                .of(
                    .transactionPurchased,
                    purchased(2, originalNumber: 1, reason: .unknown("renewal"))
                )
            ])
            try await store.untilSent(1)
            #expect(try store.sent().map(\.notificationType) == ["ONE_TIME_CHARGE"])
        }
    }

    @Test func anAppWithoutAnEndpointGetsNoNotification() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([
                .of(.transactionPurchased, purchased(1, bundle: "com.example.other"))
            ])
            #expect(try await store.states().isEmpty)
        }
    }

    @Test func inProductionAFailedTryIsRepeatedAfter1To72Hours() async throws {
        try await withNotifications(in: .production) { store in
            store.merchant.reply { _, _ in .status(500) }
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            for (count, hours) in [1, 12, 24, 48, 72].enumerated() {
                try await store.untilSent(count + 1)
                // A second before that time nothing is due.
                store.clock.advance(by: .seconds(hours * 3600 - 1))
                #expect(try await store.outgoing.take(limit: 1, excluding: []).isEmpty)
                store.clock.advance(by: .seconds(1))
            }
            try await store.untilSent(6)
            #expect(try await store.states() == ["given_up"])
            #expect(try Set(store.sent().map(\.notificationUUID)).count == 1)
            #expect(
                try await store.results()
                    == Array(repeating: "UNSUCCESSFUL_HTTP_RESPONSE_CODE", count: 6)
            )
        }
    }

    @Test func inTheSandboxThereIsOneTry() async throws {
        try await withNotifications { store in
            store.merchant.reply { _, _ in .status(301) }
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            try await store.untilSent(1)
            #expect(try await store.states() == ["given_up"])
            #expect(try await store.results() == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"])
        }
    }

    @Test func aTryThatAKilledSenderDidNotRecordIsRepeatedWithItsUUID() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            for notification in try await store.outgoing.take(limit: 9, excluding: []) {
                #expect(try await store.outgoing.send(notification) == .success)
            }
            #expect(try await store.outgoing.take(limit: 9, excluding: []).isEmpty)
            store.clock.advance(by: .seconds(31))
            try await store.untilSent(2)
            #expect(try Set(store.sent().map(\.notificationUUID)).count == 1)
            #expect(try await store.states() == ["confirmed"])
        }
    }

    @Test func aMerchantThatDoesNotAnswerHasTimedOut() async throws {
        try await withNotifications(timeout: .milliseconds(200)) { store in
            store.merchant.reply { _, _ in .silence }
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            try await store.untilSent(1)
            #expect(try await store.results() == ["TIMED_OUT"])
        }
    }

    @Test func inProductionAnAppNeedsANumberForNotifications() async throws {
        try await withNotifications(in: .production) { store in
            let refusal = NotificationRefusal.appUnregistered
            guard
                case .failure(refusal) = try await store.handler.setEndpoint(
                    of: NotificationsUnderTest.bundle,
                    to: "https://merchant.example/"
                )
            else {
                Issue.record("It was taken.")
                return
            }
        }
    }

    @Test func whatIsPendingGoesToTheNewEndpoint() async throws {
        try await withNotifications { store in
            try await store.handler.removeEndpoint(of: NotificationsUnderTest.bundle)
            try await store.setEndpoint("http://127.0.0.1:1/")
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            try await store.handler.removeEndpoint(of: NotificationsUnderTest.bundle)
            #expect(try await store.outgoing.take(limit: 9, excluding: []).isEmpty)
            #expect(try await store.outgoing.untilNextDue() == nil)
            try await store.setEndpoint(store.merchant.url)
            try await store.untilSent(1)
        }
    }

    @Test func everyKindCanBeAskedForAnyNumberOfTimes() async throws {
        try await withNotifications { store in
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            var ids: Set<EventID> = []
            for kind in NotificationKind.all + NotificationKind.all {
                let request = NotificationRequest(
                    notificationType: kind.type,
                    subtype: kind.subtype,
                    transactionId: purchased().id,
                    summary: .init(
                        requestIdentifier: "a request",
                        productId: "gold.monthly",
                        storefrontCountryCodes: [Storefront(unchecked: "USA")],
                        succeededCount: 2,
                        failedCount: 1
                    ),
                    externalPurchaseId: "a token"
                )
                ids.insert(
                    try await store.handler.send(request, in: NotificationsUnderTest.bundle).get()
                )
            }
            try await store.untilSent(ids.count + 1)
            let sent = try store.sent().filter { $0.notificationType != "ONE_TIME_CHARGE" }
            let kinds = Set(NotificationKind.all).subtracting([.oneTimeCharge])
            #expect(
                Set(sent.map { NotificationKind(type: $0.notificationType, subtype: $0.subtype) })
                    == Set(kinds.map(Optional.some))
            )
            for notification in sent {
                let parts = [
                    notification.data != nil, notification.summary != nil,
                    notification.externalPurchaseToken != nil,
                    notification.appData != nil,
                ]
                #expect(parts.count { $0 } == 1, "\(notification.notificationType)")
            }
            let rescinded = try #require(sent.first { $0.notificationType == "RESCIND_CONSENT" })
            let signed = try #require(rescinded.appData?.signedAppTransactionInfo)
            let app = try store.validator().verify(signed, as: JWSAppTransaction.self)
            #expect(app.bundleId == "com.example.app")
            #expect(app.appTransactionId != nil)
        }
    }

    @Test func whatCannotBeMadeIsRefusedByName() async throws {
        try await withNotifications { store in
            func refusal(
                _ request: NotificationRequest,
                in app: BundleID = NotificationsUnderTest.bundle
            ) async throws
                -> NotificationRefusal?
            {
                switch try await store.handler.send(request, in: app) {
                case .failure(let refusal): refusal
                case .success: nil
                }
            }
            let other = BundleID(unchecked: "com.example.other")
            #expect(try await refusal(.init(notificationType: "NEWS")) == .kindUnknown)
            #expect(
                try await refusal(.init(notificationType: "REFUND", subtype: "UPGRADE"))
                    == .kindUnknown
            )
            #expect(
                try await refusal(.init(notificationType: "REFUND")) == .isMissing("transactionId")
            )
            #expect(
                try await refusal(.init(notificationType: "REFUND", transactionId: purchased().id))
                    == .transactionUnknown
            )
            #expect(
                try await refusal(.init(notificationType: "RESCIND_CONSENT"))
                    == .isMissing("transactionId")
            )
            #expect(
                try await refusal(
                    .init(notificationType: "RESCIND_CONSENT", transactionId: purchased().id)
                ) == .transactionUnknown
            )
            #expect(try await refusal(.init(notificationType: "TEST"), in: other) == .noEndpoint)
            for url in ["ftp://merchant.example/", "nonsense", "http://u:p@merchant.example/"] {
                guard
                    case .failure(.addressMalformed) = try await store.handler.setEndpoint(
                        of: NotificationsUnderTest.bundle,
                        to: url
                    )
                else {
                    Issue.record("\(url) was taken")
                    continue
                }
            }
        }
    }
}
