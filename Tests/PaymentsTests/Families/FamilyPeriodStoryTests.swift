import EventTypes
import Postgres
import ServiceKit
import StoreAPI
import StoreTracing
import Subscriptions
import TestSupport
import Testing

@testable import Payments

/// A subscription that a family shares, in any order of what may happen to either.
@Suite(.timeLimit(.minutes(10))) struct FamilyPeriodStoryTests {
    private static let members: [AccountID] = ["bob", "cleo"]

    /// Something that may change what is shared.
    private enum Turn: CaseIterable {
        case pass, renewOrNot, pay, subscribe, extend
        case refund, refundPart, reverse, dispute, endDispute
        case join, leave, share, end
    }

    /// A turn, with the numbers that say what it is about.
    private struct Move: CustomStringConvertible {
        let turn: Turn
        let subject: Int
        /// Whether the shares are looked at before the next turn.
        let isLookedAt: Bool

        init(using random: inout SeededGenerator) {
            // Time passes in every third turn, so that there are periods to share.
            let passes = Int.random(in: 0..<3, using: &random) == 0
            turn = passes ? .pass : Turn.allCases.randomElement(using: &random) ?? .pass
            subject = Int.random(in: 0..<24, using: &random)
            isLookedAt = Int.random(in: 0..<3, using: &random) > 0
        }

        var days: Int { [1, 5, 16, 31][subject % 4] }
        var isYes: Bool { subject.isMultiple(of: 2) }
        var member: AccountID { FamilyPeriodStoryTests.members[subject % 2] }
        var description: String { "\(turn) \(subject)" }
    }

    private static func moves(_ seed: UInt64) -> [Move] {
        var random = SeededGenerator(seed: seed)
        return (0..<40).map { _ in Move(using: &random) }
    }

    /// The stories have every turn, so that they prove something.
    @Test func theStoriesHaveEveryTurn() {
        let turns = Set((UInt64(1)...12).flatMap(Self.moves).map(\.turn))
        #expect(turns == Set(Turn.allCases))
    }

    @Test(arguments: UInt64(1)...12)
    func sharesFollowThePeriodsAfterAnyStory(seed: UInt64) async throws {
        try await withStore { store in
            try await Self.begin(seed, in: store)
            var told: [String] = []
            for (number, move) in Self.moves(seed).enumerated() {
                try await Self.make(move, number, in: store)
                try await store.settle()
                told.append("\(move)")
                guard move.isLookedAt else { continue }
                try await store.shareAll()
                try await Self.expectSharesFollow(in: store, after: "\(told)")
            }
            #expect(try await store.booksBalance())
        }
    }

    /// Sells a club, with a grace period in half of the stories and a card that fails in two of three.
    private static func begin(_ seed: UInt64, in store: Store) async throws {
        var club = club(level: 2)
        club.isFamilyShareable = true
        try await store.sell(club)
        var settings = TestSettingsDocument(bundleID: alice.bundleID)
        settings.hasGracePeriod = seed.isMultiple(of: 2)
        let key = AccountKey(accountID: alice.accountID, bundleID: alice.bundleID)
        let wishes = settings
        try await store.client.withTransaction { try TestSettingsStore.save([key: wishes], on: $0) }
        _ = try await store.family("alice", "bob")
        let methods: [SandboxPaymentMethod] = [.success, .renewalDeclined, .renewalRecovers]
        let method = methods[Int(seed % 3)]
        try await store.buy(request("club", price: usd(299), method: method), key: "first")
    }

    // MARK: - Turns

    /// Makes a move; many are refused, which changes nothing.
    private static func make(_ move: Move, _ number: Int, in store: Store) async throws {
        let id = try await store.subscription().id
        switch move.turn {
        case .pass: try await store.advance(days: move.days)
        case .renewOrNot:
            _ = try await store.subscriptions.decide(
                .autoRenew(move.isYes),
                on: id,
                trace: .begin()
            )
        case .pay:
            _ = try await store.subscriptions.decide(
                .charge(.owedBy(SandboxPaymentMethod.success.method)),
                on: id,
                trace: .begin()
            )
        case .subscribe:
            do {
                try await store.add(request("club", price: usd(299)), key: "\(number)")
            } catch is PaymentRefusal {}
        case .extend:
            let wanted = RequestedExtension(id: "\(number)", days: move.days, reasonCode: 0)
            _ = try await store.subscriptions.extend(id, by: wanted, act: nil, trace: .begin())
        case .refund, .refundPart, .reverse, .dispute, .endDispute:
            try await giveBack(move, in: store)
        case .join, .leave, .share, .end: try await change(move, in: store)
        }
    }

    /// Refunds or disputes one of the two newest periods, or takes that back.
    private static func giveBack(_ move: Move, in store: Store) async throws {
        let paid = try await store.transactions().filter {
            [.purchase, .renewal].contains($0.reason) && $0.state == .purchased
        }.suffix(2)
        guard let period = move.isYes ? paid.last : paid.first else { return }
        let bank = SandboxDisputeHandler(
            books: SandboxDisputeStore(client: store.client),
            disputes: DisputeHandler(context: store.context, runner: store.runner)
        )
        switch move.turn {
        case .refund: _ = try await store.refunds.refund(period.id)
        case .refundPart:
            _ = try await store.refunds.refund(period.id, RefundTerms(amount: usd(50)))
        case .reverse:
            guard let refund = period.refunds?.last else { return }
            _ = try await store.refunds.reverseRefund(refund.number, of: period.id, by: nil)
        case .dispute: _ = try await bank.take(.open, of: period.id)
        default: _ = try await bank.take(move.subject % 3 == 0 ? .lose : .win, of: period.id)
        }
    }

    /// Changes the family of the organizer, or makes one.
    private static func change(_ move: Move, in store: Store) async throws {
        guard let family = try await Self.family(in: store) else {
            let wanted = FamilyRequest(
                bundleID: alice.bundleID,
                organizer: alice.accountID,
                members: [move.member]
            )
            _ = try await store.families.create(wanted, by: .nora, trace: .begin())
            return
        }
        switch move.turn {
        case .leave:
            let account = AccountKey(accountID: move.member, bundleID: alice.bundleID)
            _ = try await store.families.leave(account, trace: .begin())
        case .end where move.isYes:
            _ = try await store.families.end(family.id, by: .nora, trace: .begin())
        default:
            let isJoin = move.turn == .join
            _ = try await store.families.include(
                isJoin ? move.member : alice.accountID,
                sharing: isJoin || move.isYes,
                in: family.id,
                by: .nora,
                trace: .begin()
            )
        }
    }

    private static func family(in store: Store) async throws -> Family? {
        try await store.families.family(
            of: AccountKey(accountID: alice.accountID, bundleID: alice.bundleID)
        )
    }

    // MARK: - What holds

    /// A share with the period that it shares.
    private struct Pair: Hashable {
        let period: TransactionID?
        let member: AccountID
    }

    /// The member's subscription that a share belongs to.
    private struct Chain: Hashable {
        let subscription: TransactionID?
        let member: AccountID
    }

    private static func expectSharesFollow(in store: Store, after story: String) async throws {
        let all = try await store.transactions()
        let shares = all.filter { $0.reason == .familyShared }
        let bought = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
        try await expectShareOfEachRunningPeriod(shares, bought, in: store, after: story)
        let chains = Dictionary(grouping: shares) { share in
            Chain(
                subscription: share.sharedFrom.flatMap { bought[$0]?.originalID },
                member: share.accountID
            )
        }
        for chain in chains.values {
            let first = chain.map(\.id).min()
            #expect(chain.allSatisfy { $0.originalID == first }, "\(story)")
        }
        for share in shares {
            let types = try await store.eventTypes(of: share.id)
            let isTaken = share.revokedAt != nil
            #expect(types.first == "transaction.purchased.v1", "\(story)")
            #expect(types.count { $0 == "transaction.purchased.v1" } == 1, "\(story)")
            // The merchant's server hears REVOKE of each of these, and nothing after it.
            let revocations = types.count { $0 == "transaction.refunded.v1" }
            #expect(revocations == (isTaken ? 1 : 0), "\(share.id): \(types) after \(story)")
            #expect((types.last == "transaction.refunded.v1") == isTaken, "\(story)")
            #expect(share.refunds?.count ?? 0 == revocations, "\(story)")
        }
        #expect(try await store.count("family_work") == 0, "\(story)")
    }

    /// Each member has one share of each period that gives the organizer service now or later, with
    /// the same end, and no other share that has not ended.
    private static func expectShareOfEachRunningPeriod(
        _ shares: [Transaction],
        _ bought: [TransactionID: Transaction],
        in store: Store,
        after story: String
    ) async throws {
        let now = store.clock.now()
        let subscription = try await store.subscription()
        var ends: [TransactionID: StoreTime] = [:]
        for period in [subscription.earlierPeriod, subscription.period].compactMap(\.self) {
            let isNewest = period.transactionID == subscription.period.transactionID
            let end = (isNewest ? subscription.gracePeriodEnd : nil) ?? period.end
            let isTaken = bought[period.transactionID]?.revokedAt != nil
            guard period.earlyEnd == nil, !isTaken, end > now else { continue }
            ends[period.transactionID] = end
        }
        let family = try await Self.family(in: store)
        let sharers = family?.members.filter(\.isSharing).map(\.accountID) ?? []
        let members = family?.members.map(\.accountID) ?? []
        var expected: [Pair: [StoreTime]] = [:]
        for member in members
        where member != alice.accountID && sharers.contains(alice.accountID) {
            for (period, end) in ends {
                expected[Pair(period: period, member: member)] = [end]
            }
        }
        var found: [Pair: [StoreTime]] = [:]
        for share in shares where share.revokedAt == nil {
            guard let end = share.subscription?.serviceEnd, end > now else { continue }
            let pair = Pair(period: share.sharedFrom, member: share.accountID)
            found[pair, default: []].append(end)
            let period = share.sharedFrom.flatMap { bought[$0]?.subscription }
            #expect(share.subscription?.end == period?.end, "\(share.id) after \(story)")
        }
        #expect(found == expected, "at \(now) after \(story)")
    }
}
