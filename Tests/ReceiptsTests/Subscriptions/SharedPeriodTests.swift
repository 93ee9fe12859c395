import EventTypes
import Messaging
import ReceiptValidation
import TestSupport
import Testing

@testable import Receipts

/// The statuses of subscriptions that a family shares (rows e43 to e45).
@Suite(.timeLimit(.minutes(10))) struct SharedPeriodTests {
    private typealias Club = ClubSubscription

    private static let share = TransactionID(number: 2_000_000_000_011)
    private static let bob = OwnerKey(
        account: AccountID(unchecked: "bob"),
        bundle: Club.begun.bundleID
    )

    /// The transaction by which bob has a period that alice has paid.
    private static func transaction(
        _ id: TransactionID = Self.share,
        of period: PaidPeriod = Club.begun.period,
        isTakenAway: Bool = false
    ) -> Transaction {
        var shared = Club.transaction(period, version: isTakenAway ? 3 : 2)
        shared.id = id
        // All shares of the subscription have the id of the first.
        shared.originalID = Self.share
        shared.reason = .familyShared
        shared.accountID = bob.account
        shared.sharedFrom = period.transactionID
        shared.price = .zero(Club.usd)
        shared.subscription?.paidBy = period.transactionID
        if isTakenAway {
            shared.revokedAt = TestChain.now
            shared.refunds = [
                Refund(number: 1, amount: shared.price, refundedAt: TestChain.now, revokes: true)
            ]
        }
        return shared
    }

    /// The subscription as bob has it at a time.
    private func shared(
        _ bought: Subscription,
        of period: PaidPeriod = Club.begun.period,
        isTakenAway: Bool = false,
        at time: StoreTime = TestChain.now
    ) throws -> Subscription {
        try share(of: bought, period, isTakenAway: isTakenAway).subscription(at: time)
    }

    /// The share of a period.
    private func share(
        _ id: TransactionID = Self.share,
        of bought: Subscription,
        _ period: PaidPeriod,
        isTakenAway: Bool = false
    ) throws -> SharedPeriod {
        let signed = try SignedTransactionPayload(
            Self.transaction(id, of: period, isTakenAway: isTakenAway),
            environment: .sandbox,
            signedAt: TestChain.now
        )
        return SharedPeriod(owner: Self.bob, share: signed, bought: bought)
    }

    @Test func aMembersSubscriptionFollowsTheOneThatIsPaid() throws {
        var bought = Club.begun
        bought.pendingOffer = Club.introduced(.payAsYouGo, price: 99).period.offer
        let running = try shared(bought)
        #expect(running.id == Self.share && running.accountID == Self.bob.account)
        #expect(running.period.transactionID == Self.share && running.state == .active)
        #expect(running.period.end == Club.begun.period.end && running.isAutoRenewOn)
        // The next offer is for whoever pays.
        #expect(running.nextOffer == nil)
        bought.autoRenewOffReason = .customer
        #expect(try !shared(bought).isAutoRenewOn)
        let ended = try shared(bought, at: bought.period.end)
        #expect(ended.state == .expired && ended.expirationIntent == .autoRenewDisabled)
    }

    @Test func whatIsTakenAwayIsRevoked() throws {
        let revoked = try shared(Club.begun, isTakenAway: true)
        #expect(revoked.state == .revoked && !revoked.isAutoRenewOn)
        #expect(revoked.expirationIntent == nil)
    }

    @Test func aMemberIsInTheGracePeriodOfTheBuyer() throws {
        var unpaid = Club.begun
        unpaid.state = .inGracePeriod
        unpaid.gracePeriodEnd = unpaid.period.end.advanced(by: .seconds(86_400))
        unpaid.billingRetryEnd = unpaid.period.end.advanced(by: .seconds(60 * 86_400))
        let waiting = try shared(unpaid, at: unpaid.period.end)
        #expect(waiting.state == .inGracePeriod && waiting.state.status == 4)
        #expect(waiting.gracePeriodEnd == unpaid.gracePeriodEnd)
        #expect(waiting.isEntitled(at: unpaid.period.end))
        let taken = try shared(unpaid, isTakenAway: true, at: unpaid.period.end)
        #expect(taken.state == .revoked && taken.gracePeriodEnd == nil)
    }

    @Test func aMemberWaitsWhileThePeriodIsNotPaid() throws {
        var unpaid = Club.begun
        unpaid.state = .inBillingRetryPeriod
        unpaid.billingRetryEnd = unpaid.period.end.advanced(by: .seconds(60 * 86_400))
        let waiting = try shared(unpaid, at: unpaid.period.end)
        #expect(waiting.state == .inBillingRetryPeriod && waiting.gracePeriodEnd == nil)
        #expect(!waiting.isEntitled(at: unpaid.period.end))
    }

    @Test func aRenewalThatIsNotSharedLeavesThePeriodUntilItsEnd() throws {
        let renewed = Club.renewed
        #expect(try shared(renewed).state == .active)
        #expect(try shared(renewed).period.end == Club.begun.period.end)
        let later = try shared(renewed, at: Club.begun.period.end)
        #expect(later.state == .expired && !later.isAutoRenewOn)
        let next = try shared(renewed, of: renewed.period, at: Club.begun.period.end)
        #expect(next.state == .active && next.period.end == renewed.period.end)
    }

    @Test func theRunningPeriodCountsAgainIfTheNextOneIsTakenAway() throws {
        let (renewed, next) = (Club.renewed, TransactionID(number: Self.share.number + 1))
        let running = try share(of: renewed, Club.begun.period)
        let early = try share(next, of: renewed, renewed.period)
        let taken = try share(next, of: renewed, renewed.period, isTakenAway: true)
        let gone = try share(of: renewed, Club.begun.period, isTakenAway: true)
        func counting(
            _ periods: [SharedPeriod],
            at time: StoreTime = TestChain.now
        ) -> [TransactionID] {
            SharedPeriod.counting(among: periods, at: time).map(\.share.transactionId)
        }
        #expect(counting([early, running]) == [next])
        #expect(counting([taken, running]) == [Self.share])
        // If nothing runs, the newest one says why.
        #expect(counting([taken, gone]) == [next])
        #expect(counting([taken, running], at: Club.begun.period.end) == [next])
        #expect(counting([]) == [])
    }

    @Test func aMemberWithASubscriptionOfTheirOwnHasBothAndKeepsTheirs() async throws {
        try await withNotifications { store in
            let id = TransactionID(number: 2_000_000_000_021)
            let own = Subscription(
                accountID: Self.bob.account,
                bundleID: Self.bob.bundle,
                storefront: Club.begun.storefront,
                firstPeriod: Club.period(id, 1, from: TestChain.now)
            )
            var paid = Club.transaction(own.period)
            paid.originalID = id
            paid.accountID = Self.bob.account
            try await store.receipts.apply([
                .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                .of(Club.change(Club.begun, .purchased, making: Club.first)),
                .of(.transactionPurchased, paid),
                .of(Club.change(own, .purchased, making: id)),
                .of(.transactionPurchased, Self.transaction()),
            ])
            func statuses() async throws -> [TransactionID: Int] {
                let found = try await store.statuses.statuses(of: Self.bob)
                return Dictionary(
                    uniqueKeysWithValues: found.map { ($0.subscription.id, $0.status) }
                )
            }
            #expect(try await statuses() == [id: 1, Self.share: 1])
            try await store.receipts.apply([
                .of(.transactionRefunded, Self.transaction(isTakenAway: true))
            ])
            #expect(try await statuses() == [id: 1, Self.share: 5])
        }
    }

    @Test func aLongShareHasAStatusBesideManyNewerShares() async throws {
        try await withNotifications { store in
            let (paid, first) = (
                TransactionID(number: 2_000_000_000_021), TransactionID(number: 2_000_000_001_000)
            )
            let other = Subscription(
                accountID: Club.begun.accountID,
                bundleID: Club.begun.bundleID,
                storefront: Club.begun.storefront,
                firstPeriod: Club.period(paid, 1, from: TestChain.now)
            )
            var payment = Club.transaction(other.period)
            payment.originalID = paid
            let shares = (0...Int64(100)).map { number in
                let id = TransactionID(number: first.number + number)
                var share = Self.transaction(id, of: other.period)
                share.originalID = first
                return share
            }
            try await store.receipts.apply([
                .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                .of(Club.change(Club.begun, .purchased, making: Club.first)),
                .of(.transactionPurchased, payment),
                .of(Club.change(other, .purchased, making: paid)),
                .of(.transactionPurchased, Self.transaction()),
            ])
            try await store.receipts.apply(
                try shares.map { try ReceivedEvent.of(.transactionPurchased, $0) }
            )
            let statuses = try await store.statuses.statuses(of: Self.bob)
            #expect(Set(statuses.map(\.subscription.id)) == [first, Self.share])
        }
    }

    @Test func aMemberHasTheStatusOfWhatTheFamilyShares() async throws {
        try await withNotifications { store in
            let reader = store.statuses
            let alice = OwnerKey(account: Club.begun.accountID, bundle: Club.begun.bundleID)
            try await store.receipts.apply([
                .of(.transactionPurchased, Club.transaction(Club.begun.period)),
                .of(Club.change(Club.begun, .purchased, making: Club.first)),
                .of(.transactionPurchased, Self.transaction()),
            ])
            let status = try #require(try await reader.statuses(of: Self.bob).first)
            #expect(status.status == 1 && status.subscription.id == Self.share)
            let info = try store.validator().verify(status.renewalInfo, as: JWSRenewalInfo.self)
            #expect(info.originalTransactionId == Self.share.rawValue)
            #expect(info.autoRenewStatus == 1)
            #expect(try await reader.statuses(of: alice).map(\.subscription.id) == [Club.first])

            // The next period is another share, and the newest one counts.
            let next = TransactionID(number: Self.share.number + 1)
            try await store.receipts.apply([
                .of(.transactionPurchased, Club.transaction(Club.renewed.period)),
                .of(Club.change(Club.renewed, .renewed, making: Club.second)),
                .of(.transactionPurchased, Self.transaction(next, of: Club.renewed.period)),
            ])
            let later = try await reader.statuses(of: Self.bob).map(\.subscription)
            #expect(later.map(\.period.transactionID) == [next])
            #expect(later.map(\.id) == [Self.share])
            try await store.receipts.apply([
                .of(
                    .transactionRefunded,
                    Self.transaction(next, of: Club.renewed.period, isTakenAway: true)
                )
            ])
            // The running period is still shared.
            let running = try await reader.statuses(of: Self.bob)
            #expect(running.map(\.status) == [1])
            #expect(running.map(\.subscription.period.transactionID) == [Self.share])
            try await store.receipts.apply([
                .of(.transactionRefunded, Self.transaction(isTakenAway: true))
            ])
            #expect(try await reader.statuses(of: Self.bob).map(\.status) == [5])
        }
    }
}
