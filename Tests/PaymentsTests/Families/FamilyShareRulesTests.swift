import ClockAndIDs
import EventTypes
import TestSupport
import Testing

@testable import Payments

/// The share of a member in a purchase, given and taken away.
@Suite struct FamilyShareRulesTests {
    private let bob = AccountID(unchecked: "bob")

    /// The refund may be committed after it was seen that the member lacks the purchase.
    @Test func aShareOfAPurchaseThatIsBeingRefundedIsTakenAwayLikeAnyOther() throws {
        var purchase = TransactionRecord(
            transaction: transaction(.purchased),
            taxBasisPoints: 1900
        )
        let refundedAt = startTime.advanced(by: .seconds(1))
        purchase.transaction.refunds = [
            Refund(number: 1, amount: usd(999), refundedAt: refundedAt, revokes: true)
        ]
        purchase.transaction.revokedAt = refundedAt
        let share = FamilyShareRules.share(
            of: purchase,
            with: bob,
            as: TransactionID(number: 9),
            at: startTime.advanced(by: .seconds(2))
        )
        #expect(share.transaction.revokedAt == nil && share.transaction.refunds == nil)

        let time = startTime.advanced(by: .seconds(3))
        let revoked = try #require(FamilyShareRules.revoked(share, at: time, drawing: .random))
        #expect(revoked.transaction.version == 2)
        #expect(revoked.transaction.revokedAt == time)
        #expect(revoked.transaction.refunds?.map(\.refundedAt) == [time])
    }

    // MARK: - What a share follows

    private static let end = startTime.advanced(by: .seconds(30 * 86_400))

    /// The share of a period, while the buyer's subscription had a state.
    private func share(_ state: SubscriptionState = .active) -> TransactionRecord {
        var purchase = transaction(.purchased, type: .autoRenewableSubscription)
        purchase.subscription = TransactionPeriod(
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            start: startTime,
            end: Self.end
        )
        var share = FamilyShareRules.share(
            of: TransactionRecord(transaction: purchase, taxBasisPoints: 1900),
            with: bob,
            as: TransactionID(number: 9),
            at: startTime
        )
        share.transaction.subscription?.shared?.state = state
        return share
    }

    private func followed(
        _ share: TransactionRecord,
        to state: SubscriptionState,
        _ intent: ExpirationIntent? = nil,
        end: StoreTime = Self.end
    ) -> TransactionRecord? {
        FamilyShareRules.followed(
            share,
            FamilyShareStore.Behind(
                id: share.transaction.id,
                end: end,
                standing: FamilyShareStore.Standing(
                    state: state,
                    gracePeriodEnd: nil,
                    expirationIntent: intent
                )
            ),
            at: Self.end,
            drawing: .random
        )
    }

    @Test(arguments: [-3, 3])
    func aPeriodMayEndEarlierOrLater(days: Int) throws {
        let end = Self.end.advanced(by: .seconds(days * 86_400))
        let moved = try #require(followed(share(), to: .active, end: end)).transaction
        #expect(moved.subscription?.end == end && moved.version == 2 && moved.revokedAt == nil)
        #expect(moved.subscription?.shared?.followed == .extended)
        #expect(followed(share(), to: .active) == nil)
    }

    @Test(
        arguments: [
            (.active, .inGracePeriod, nil, .gracePeriodBegan),
            (.active, .inBillingRetryPeriod, nil, .billingRetryBegan),
            (.inGracePeriod, .inBillingRetryPeriod, nil, .gracePeriodEnded),
            (.inBillingRetryPeriod, .expired, .billingError, .billingRetryEnded),
            (.inGracePeriod, .expired, .autoRenewDisabled, .cancelledUnpaid),
            (.active, .expired, .autoRenewDisabled, .expired),
            (.active, .expired, .didNotConsentToPriceIncrease, .priceNotAgreed),
            (.active, .expired, .productUnavailable, .productUnavailable),
            (.active, .expired, .unknown, .ended),
        ] as [(SubscriptionState, SubscriptionState, ExpirationIntent?, SubscriptionCause)]
    )
    func aShareKnowsTheChangeThatItFollows(
        before: SubscriptionState,
        after: SubscriptionState,
        intent: ExpirationIntent?,
        cause: SubscriptionCause
    ) throws {
        let moved = try #require(followed(share(before), to: after, intent)).transaction
        #expect(moved.subscription?.shared?.state == after)
        #expect(moved.subscription?.shared?.followed == cause)
        #expect(moved.subscription?.end == Self.end)
    }
}
