import EventTypes
import Foundation
import ServiceKit
import Testing

@testable import Receipts

@Suite struct NotificationRulesTests {
    @Test func aStoredPayloadIsPutTogetherAsItWasSigned() {
        let header = "eyJhbGciOiJFUzI1NiJ9"
        let payload = Array("{\"signedTransactionInfo\":\"\(header).e30.c2ln\"}".utf8)
        let stored = NotificationText.stored(payload, header: header)
        #expect(stored.count == payload.count - header.utf8.count + 1)
        let sent = NotificationText.signedPayload(
            header: header,
            stored: stored,
            signature: [1, 2, 3]
        )
        let whole = JWSSerialization.joined(header: header, payload: payload, signature: [1, 2, 3])
        #expect(sent == whole)
        // A notification with another chain's header is stored unchanged.
        #expect(NotificationText.stored(payload, header: "other") == payload)
    }

    @Test(arguments: [Int64.max, Int64.min, 253_402_300_800_000])
    func aDateBeyondTheCalendarIsRefused(date: Int64) {
        let now = TestChain.now.millisecondsSinceEpoch
        #expect(throws: ServerAPIError.invalidEndDate) {
            let body = Data("{\"startDate\":\(now),\"endDate\":\(date)}".utf8)
            _ = try NotificationHistoryQuery(body, in: .sandbox, at: TestChain.now)
        }
        #expect(throws: ServerAPIError.invalidStartDate) {
            let body = Data("{\"startDate\":\(date),\"endDate\":\(now)}".utf8)
            _ = try NotificationHistoryQuery(body, in: .sandbox, at: TestChain.now)
        }
    }

    /// The server hears that a share came and went, and of no refund.
    @Test func aShareIsRevokedAndNotRefunded() {
        let refund = Refund(
            number: 1,
            amount: Money(minorUnits: 0, currency: Currency(unchecked: "USD")),
            refundedAt: TestChain.now,
            revokes: true
        )
        func kinds(
            _ reason: TransactionReason,
            of type: ProductType = .nonConsumable
        ) -> [String] {
            let transaction = purchased(
                reason: reason,
                type: type,
                revokedAt: TestChain.now,
                refunds: [refund]
            )
            return NotificationRules.notifications(
                of: [
                    SignedTransaction(
                        transaction: transaction,
                        purchasedAt: TestChain.now,
                        signedAt: TestChain.now,
                        payload: [],
                        signature: [],
                        context: SigningContext()
                    )
                ],
                SavedReceipts(issued: [transaction.id])
            ).map(\.kind.type)
        }
        #expect(kinds(.familyShared) == ["ONE_TIME_CHARGE", "REVOKE"])
        #expect(kinds(.purchase) == ["ONE_TIME_CHARGE", "REFUND"])
        // The end of a period is told by its subscription, which a share does not have.
        #expect(kinds(.familyShared, of: .autoRenewableSubscription) == ["REVOKE"])
        #expect(kinds(.purchase, of: .autoRenewableSubscription) == [])
    }

    /// The notifications of a share, as type and subtype.
    private func told(
        _ began: SubscriptionCause,
        _ followed: SubscriptionCause? = nil,
        version: Int = 1,
        isNew: Bool = true,
        isTakenAway: Bool = false
    ) -> [String] {
        var share = purchased(
            reason: .familyShared,
            type: .autoRenewableSubscription,
            revokedAt: isTakenAway ? TestChain.now : nil,
            refunds: isTakenAway
                ? [
                    Refund(
                        number: 1,
                        amount: Money(minorUnits: 0, currency: Currency(unchecked: "USD")),
                        refundedAt: TestChain.now,
                        revokes: true
                    )
                ] : nil
        )
        share.version = version
        share.subscription =
            ClubSubscription.transaction(ClubSubscription.begun.period)
            .subscription
        share.subscription?.shared = TransactionPeriod.Shared(
            began: began,
            followed: followed,
            state: .active
        )
        return NotificationRules.notifications(
            of: [
                SignedTransaction(
                    transaction: share,
                    purchasedAt: TestChain.now,
                    signedAt: TestChain.now,
                    payload: [],
                    signature: [],
                    context: SigningContext()
                )
            ],
            isNew
                ? SavedReceipts(issued: [share.id])
                : SavedReceipts(issued: [], replaced: [share.id: RefundNumbers()])
        ).map { "\($0.kind) \($0.occurrence)" }
    }

    @Test func aSharedSubscriptionIsToldAsAnyOther() {
        #expect(told(.purchased) == ["SUBSCRIBED INITIAL_BUY 1"])
        #expect(told(.resubscribed) == ["SUBSCRIBED RESUBSCRIBE 1"])
        #expect(told(.renewed) == ["DID_RENEW 1"])
        #expect(told(.recovered) == ["DID_RENEW BILLING_RECOVERY 1"])
        func followed(_ cause: SubscriptionCause?) -> [String] {
            told(.renewed, cause, version: 2, isNew: false)
        }
        #expect(followed(.extended) == ["RENEWAL_EXTENDED 2"])
        #expect(followed(.gracePeriodBegan) == ["DID_FAIL_TO_RENEW GRACE_PERIOD 2"])
        #expect(followed(.gracePeriodEnded) == ["GRACE_PERIOD_EXPIRED 2"])
        #expect(followed(.expired) == ["EXPIRED VOLUNTARY 2"])
        // Auto-renew is not the member's.
        #expect(followed(.cancelledUnpaid) == ["EXPIRED VOLUNTARY 2"])
        #expect(followed(nil) == [])
    }

    @Test func aShareWhoseVersionsComeTogetherIsToldOnceForEach() {
        #expect(
            told(.purchased, .extended, version: 2) == [
                "SUBSCRIBED INITIAL_BUY 2", "RENEWAL_EXTENDED 2",
            ]
        )
        // What it has followed before is not told again when it is taken away.
        #expect(
            told(.purchased, .extended, version: 3, isNew: false, isTakenAway: true) == ["REVOKE 1"]
        )
    }

    @Test func onlyThePairsOfTheProtocolCanBeMade() {
        #expect(NotificationKind(type: "EXPIRED", subtype: "VOLUNTARY") != nil)
        // A subscription may end for a reason that has no subtype.
        #expect(NotificationKind(type: "EXPIRED", subtype: nil) != nil)
        #expect(NotificationKind(type: "SUBSCRIBED", subtype: nil) == nil)
        #expect(NotificationKind(type: "DID_RENEW", subtype: nil) != nil)
        #expect(NotificationKind(type: "TEST", subtype: "PENDING") == nil)
    }
}
