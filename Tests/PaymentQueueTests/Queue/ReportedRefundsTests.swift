import EventTypes
import Foundation
import Testing

@testable import PaymentQueue

/// Refunds may come in parts, take the product away or not, and be reversed.
@Suite struct ReportedRefundsTests {
    private var pending = PendingTransactions()

    @Test func aRefundOfAPartChangesTheTransactionAndTakesNothingAway() {
        var pending = pending
        _ = pending.receive([.of(1, "pro", .purchased, version: 2)])
        let part = QueueChanged.of(1, "pro", .purchased, version: 3, refunds: [.of(1, 40)])
        let news = pending.receive([part])
        #expect(news.updates.flatMap { $0 }.map(\.fields.refunds) == [[.of(1, 40)]])
        #expect(news.updates.first?.first?.fields.revocationDate == nil)
        #expect(news.revoked.isEmpty && news.refunded.isEmpty)
        #expect(pending.receive([part]).updates.isEmpty, "Each refund is reported once.")
    }

    /// A finished share, at a version.
    private func share(_ version: Int, _ shared: TransactionPeriod.Shared) -> QueueChanged {
        var change = QueueChanged.of(
            1,
            "club",
            .purchased,
            version: version,
            finishedAt: 1,
            reason: .familyShared
        )
        change.transaction.subscription = TransactionPeriod(
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            end: StoreTime(millisecondsSinceEpoch: 9),
            shared: shared
        )
        return change
    }

    /// So that those who follow statuses ask for the new one.
    @Test func aSharedPeriodThatFollowsIsReportedOnceForEachChange() {
        var pending = pending
        var standing = TransactionPeriod.Shared(began: .purchased, state: .active)
        let begun = pending.receive([share(1, standing)])
        #expect(begun.refunded.isEmpty)
        standing.followed = .gracePeriodBegan
        standing.state = .inGracePeriod
        let grace = share(2, standing)
        let told = pending.receive([grace]).refunded.count
        let again = pending.receive([grace]).refunded.count
        #expect(told == 1 && again == 0)
        standing.followed = .gracePeriodEnded
        standing.state = .inBillingRetryPeriod
        let ended = pending.receive([share(3, standing)])
        #expect(ended.refunded.count == 1 && ended.revoked.isEmpty)
    }

    @Test func afterAReversalALaterRefundTakesItAwayAgain() {
        var pending = pending
        _ = pending.receive([.of(1, "pro", .purchased, version: 2)])
        let refunded = pending.receive([
            .of(
                1,
                "pro",
                .purchased,
                version: 3,
                revokedAt: 5,
                refunds: [.of(1, 99, revokes: true)]
            )
        ])
        #expect(refunded.revoked == ["pro"] && refunded.updates.count == 1)
        let reversed = pending.receive([
            .of(
                1,
                "pro",
                .purchased,
                version: 4,
                refunds: [.of(1, 99, revokes: true, isReversed: true)]
            )
        ])
        #expect(reversed.revoked.isEmpty)
        #expect(reversed.updates.flatMap { $0 }.map(\.fields.revocationDate) == [nil])
        let again = pending.receive([
            .of(
                1,
                "pro",
                .purchased,
                version: 5,
                revokedAt: 9,
                refunds: [
                    .of(1, 99, revokes: true, isReversed: true), .of(2, 99, revokes: true),
                ]
            )
        ])
        #expect(again.revoked == ["pro"] && again.updates.count == 1)
    }

    @Test func eachRefundAndReversalOfAFinishedOneIsReportedOnce() {
        var pending = pending
        let parts: [(refunds: [Refund], revokedAt: Int64?, revoked: [String])] = [
            ([.of(1, 40)], nil, []),
            ([.of(1, 40), .of(2, 59, revokes: true)], 7, ["pro"]),
            ([.of(1, 40), .of(2, 59, revokes: true, isReversed: true)], nil, []),
        ]
        for (version, part) in zip(3..., parts) {
            let change = QueueChanged.of(
                1,
                "pro",
                .purchased,
                version: version,
                finishedAt: 4,
                revokedAt: part.revokedAt,
                refunds: part.refunds
            )
            let news = pending.receive([change])
            #expect(news.revoked == part.revoked)
            #expect(news.refunded.map(\.fields.refunds) == [part.refunds])
            #expect(news.updates.isEmpty)
            let again = pending.receive([change])
            #expect(again.revoked.isEmpty && again.refunded.isEmpty)
        }
        let late = pending.receive([
            .of(1, "pro", .purchased, version: 3, finishedAt: 4, refunds: [.of(1, 40)])
        ])
        #expect(late.refunded.isEmpty, "An older version is no news.")
    }

    @Test func refundsInTheFirstReportAreNotReportedAgain() {
        var pending = pending
        let first = pending.receive([
            .of(
                1,
                "pro",
                .purchased,
                version: 3,
                revokedAt: 5,
                refunds: [.of(1, 99, revokes: true)]
            )
        ])
        #expect(first.updates.count == 1 && first.revoked.isEmpty)
        let finished = pending.receive([
            .of(
                1,
                "pro",
                .purchased,
                version: 3,
                finishedAt: 9,
                revokedAt: 5,
                refunds: [.of(1, 99, revokes: true)]
            )
        ])
        #expect(finished.removed.count == 1)
        #expect(finished.revoked.isEmpty && finished.refunded.isEmpty)
    }

    @Test func afterAStoreHasGoneBackARefundIsReportedAgain() {
        var reported = ReportedRefunds()
        let refunded = QueueChanged.of(
            1,
            "pro",
            .purchased,
            version: 5,
            revokedAt: 5,
            refunds: [.of(1, 99, revokes: true)]
        ).transaction
        #expect(reported.take(refunded) == .revoked)
        let before = QueueChanged.of(1, "pro", .purchased, version: 2).transaction
        #expect(reported.take(before) == nil)
        reported.goBack()
        #expect(reported.take(before) == .changed)
        var again = refunded
        again.version = 3
        #expect(reported.take(again) == .revoked)
    }
}
