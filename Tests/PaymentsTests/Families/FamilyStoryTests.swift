import EventTypes
import ServiceKit
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// Purchases, refunds and families in any order, several at once.
@Suite(.timeLimit(.minutes(10))) struct FamilyStoryTests {
    private static let people: [AccountID] = ["alice", "bob", "cleo", "dan"]
    private static let films = ["film", "sequel"]

    /// Something that may change what is shared.
    private enum Turn: CaseIterable {
        case buy, refund, reverse, found, include, stopSharing, remove, leave, end
    }

    /// A turn, with the numbers that say whose it is and what it is about.
    private struct Move: CustomStringConvertible {
        let turn: Turn
        let person: Int
        let subject: Int

        init(using random: inout SeededGenerator) {
            turn = Turn.allCases.randomElement(using: &random) ?? .buy
            person = Int.random(in: 0..<FamilyStoryTests.people.count, using: &random)
            subject = Int.random(in: 0..<24, using: &random)
        }

        var account: AccountID { FamilyStoryTests.people[person] }
        var description: String { "\(turn) by \(account), \(subject)" }
    }

    /// Any order of purchases, refunds, reversals and changes of families leaves exactly the shares
    /// that follow from who is in a family now, and from what stands.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func sharesAreRightAfterAnyStory(seed: UInt64) async throws {
        try await withStore(poolSize: 6) { store in
            for film in Self.films { try await store.sellFilm(film) }
            _ = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "first")
            try await store.shareAll()
            #expect(try await store.shares().map(\.accountID) == ["bob"])
            var random = SeededGenerator(seed: seed)
            for round in 0..<12 {
                let moves = (0..<3).map { _ in Move(using: &random) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, move) in moves.enumerated() {
                        group.addTask { try await Self.make(move, "\(round)-\(number)", in: store) }
                    }
                    group.addTask { try await store.shareAll() }
                    try await group.waitForAll()
                }
                try await store.settle()
                try await store.shareAll()
                try await Self.expectSharesAreRight(in: store, after: "round \(round): \(moves)")
            }
            #expect(try await store.booksBalance())
        }
    }

    /// Makes a move; many are refused, which changes nothing.
    private static func make(_ move: Move, _ key: String, in store: Store) async throws {
        switch move.turn {
        case .buy:
            let account = AuthenticatedAccount(
                accountID: move.account,
                bundleID: alice.bundleID
            )
            do {
                try await store.add(
                    request(films[move.subject % films.count]),
                    key: key,
                    of: account
                )
            } catch is PaymentRefusal {}
        case .refund, .reverse:
            let bought = try await store.transactions().filter { $0.reason == .purchase }
            let purchase = bought[move.subject % bought.count]
            if move.turn == .refund {
                _ = try await store.refunds.refund(purchase.id)
            } else if let refund = purchase.refunds?.last {
                _ = try await store.refunds.reverseRefund(refund.number, of: purchase.id, by: nil)
            }
        case .found:
            let others = people.enumerated().filter { number, account in
                account != move.account && move.subject >> number & 1 == 1
            }.map(\.element)
            let family = FamilyRequest(
                bundleID: alice.bundleID,
                organizer: move.account,
                members: others
            )
            _ = try await store.families.create(family, by: .nora, trace: .begin())
        case .include, .stopSharing, .remove, .end: try await change(move, in: store)
        case .leave:
            let account = AccountKey(accountID: move.account, bundleID: alice.bundleID)
            _ = try await store.families.leave(account, trace: .begin())
        }
    }

    /// Makes a move that changes a family.
    private static func change(_ move: Move, in store: Store) async throws {
        let families = try await Self.families(in: store)
        guard !families.isEmpty else { return }
        let id = families[move.subject % families.count].id
        switch move.turn {
        case .remove:
            _ = try await store.families.remove(
                move.account,
                from: id,
                by: .nora,
                trace: .begin()
            )
        case .end: _ = try await store.families.end(id, by: .nora, trace: .begin())
        default:
            _ = try await store.families.include(
                move.account,
                sharing: move.turn == .include,
                in: id,
                by: .nora,
                trace: .begin()
            )
        }
    }

    /// The families that have not ended.
    private static func families(in store: Store) async throws -> [Family] {
        try await store.families.families(in: alice.bundleID, after: nil).families
            .filter { $0.endedAt == nil }
    }

    private static func expectSharesAreRight(in store: Store, after moves: String) async throws {
        let standing = try await store.transactions().filter {
            $0.reason == .purchase && $0.state == .purchased && $0.revokedAt == nil
        }
        var expected: [String] = []
        for family in try await Self.families(in: store) {
            for sharer in family.members where sharer.isSharing {
                for purchase in standing where purchase.accountID == sharer.accountID {
                    let others = family.members.map(\.accountID).filter { $0 != sharer.accountID }
                    expected += others.map { "\(purchase.id) with \($0)" }
                }
            }
        }
        let shares = try await store.shares().map { share in
            "\(share.sharedFrom?.rawValue ?? "nothing") with \(share.accountID)"
        }
        #expect(shares.sorted() == expected.sorted(), "\(moves)")
        #expect(try await store.count("family_work") == 0)
    }
}
