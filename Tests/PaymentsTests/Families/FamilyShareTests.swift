import EventTypes
import Messaging
import Postgres
import Seals
import StoreAPI
import StoreTracing
import TestSupport
import Testing

@testable import Payments

@Suite(.timeLimit(.minutes(10))) struct FamilyShareTests {
    @Test func eachOtherMemberGetsThePurchaseOnceAndPaysNothing() async throws {
        try await withStore { store in
            try await store.sellFilm()
            _ = try await store.family("alice", "bob", "cleo")
            let bought = try await store.buy(request("film"), key: "a")
            try await store.shareAll()
            let shares = try await store.shares()
            #expect(shares.map(\.accountID) == ["bob", "cleo"])
            for share in shares {
                #expect(share.reason == .familyShared && share.sharedFrom == bought.id)
                #expect(share.state == .purchased && share.price.isZero)
                #expect(share.originalID == share.id && share.id != bought.id)
                #expect(share.deliveryPlan == [.entitlement])
                #expect(try await store.postings(of: share.id) == [])
                #expect(
                    try await store.eventTypes(of: share.id) == ["transaction.purchased.v1"]
                )
            }
            // Looking again, for whatever reason, makes nothing new.
            try await store.note("alice", "bob", "cleo")
            try await store.shareAll()
            #expect(try await store.shares() == shares)
            #expect(try await store.count("sandbox_processor.charges") == 1)
        }
    }

    @Test func whatWasBoughtBeforeJoiningIsSharedBothWays() async throws {
        try await withStore { store in
            try await store.sellFilm()
            try await store.buy(request("film"), key: "a")
            try await store.buy(request("film"), key: "b", of: bob)
            _ = try await store.family("alice", "bob")
            try await store.shareAll()
            #expect(try await store.shares().map(\.accountID) == ["alice", "bob"])
        }
    }

    @Test func aConsumableOrAProductThatIsNotShareableStaysWithItsBuyer() async throws {
        try await withStore { store in
            _ = try await store.family("alice", "bob")
            try await store.buy(request(), key: "a")
            try await store.buy(request("film"), key: "b")
            try await store.shareAll()
            #expect(try await store.shares() == [])
        }
    }

    @Test func aProductThatBecomesShareableIsSharedAndNoLongerWhenItCeases() async throws {
        try await withStore { store in
            _ = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "a")
            try await store.sellFilm(version: 2)
            try await store.shareAll()
            #expect(try await store.shares().count == 1)
            try await store.sellFilm(isShareable: false, version: 3)
            try await store.shareAll()
            #expect(try await store.shares() == [])
        }
    }

    /// A member's purchase may be about to be committed, so nobody asks for it.
    @Test func aProductThatBecomesShareableNotesEveryMember() async throws {
        try await withStore { store in
            _ = try await store.family("alice", "bob")
            _ = try await store.family("cleo", "dan")
            try await store.shareAll()
            #expect(try await store.count("family_work") == 0)
            try await store.sellFilm(version: 2)
            #expect(try await store.count("family_work") == 4)
            try await store.shareAll()
            // A version that shares as the one before notes nobody.
            try await store.sellFilm(version: 3)
            #expect(try await store.count("family_work") == 0)
        }
    }

    @Test func aRefundTakesTheSharesAwayAndAReversalGivesNewOnes() async throws {
        try await withStore { store in
            try await store.sellFilm()
            _ = try await store.family("alice", "bob")
            let bought = try await store.buy(request("film"), key: "a")
            try await store.shareAll()
            let share = try #require(try await store.shares().first)
            _ = try await store.refunds.refund(bought.id)
            try await store.shareAll()
            let revoked = try await store.load(share.id)
            #expect(revoked.revokedAt != nil && revoked.version == 2)
            #expect(revoked.refunds?.map(\.amount.minorUnits) == [0])
            #expect(try await store.eventTypes(of: share.id).last == "transaction.refunded.v1")
            #expect(try await store.shares() == [])
            _ = try await store.refunds.reverseRefund(1, of: bought.id, by: nil)
            try await store.shareAll()
            let again = try #require(try await store.shares().first)
            #expect(again.id != share.id && again.sharedFrom == bought.id)
            #expect(try await store.booksBalance())
        }
    }

    @Test func whoLeavesLosesAndIsLost() async throws {
        try await withStore { store in
            try await store.sellFilm()
            let family = try await store.family("alice", "bob", "cleo")
            try await store.buy(request("film"), key: "a")
            try await store.buy(request("film"), key: "b", of: bob)
            try await store.shareAll()
            #expect(try await store.shares().count == 4)
            _ = try await store.families.remove("bob", from: family.id, by: .nora, trace: .begin())
                .get()
            try await store.shareAll()
            // Only what alice shares with cleo is left.
            #expect(try await store.shares().map(\.accountID) == ["cleo"])
            _ = try await store.families.end(family.id, by: .nora, trace: .begin()).get()
            try await store.shareAll()
            #expect(try await store.shares() == [])
        }
    }

    @Test func whoSharesNothingStillGetsWhatTheOthersShare() async throws {
        try await withStore { store in
            try await store.sellFilm()
            let family = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "a")
            try await store.buy(request("film"), key: "b", of: bob)
            try await store.shareAll()
            _ = try await store.families.include(
                "bob",
                sharing: false,
                in: family.id,
                by: .nora,
                trace: .begin()
            ).get()
            try await store.shareAll()
            #expect(try await store.shares().map(\.accountID) == ["bob"])
        }
    }

    @Test func sharesTakenAwayAndGivenAgainFollowFromTheLog() async throws {
        try await withStore { store in
            try await store.sellFilm()
            let family = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "a")
            try await store.shareAll()
            for isSharing in [false, true] {
                _ = try await store.families.include(
                    "alice",
                    sharing: isSharing,
                    in: family.id,
                    by: .nora,
                    trace: .begin()
                ).get()
                try await store.shareAll()
            }
            let shares = try await store.shares()
            #expect(shares.count == 1)
            let log = try await store.client.withTransaction {
                try EventLog.rows(after: .start, limit: 1000, part: .visible, on: $0)
            }
            try await withTestDatabase(migrations: PaymentsMigrations.all) { shadow in
                try await shadow.withClient { client in
                    try await client.withTransaction { connection in
                        let handler = PaymentsRebuildHandler()
                        for index in handler.unreadIndexes {
                            try connection.execute("DROP INDEX IF EXISTS \(unsafe: index)")
                        }
                        let contradictions = try handler.apply(log, on: connection)
                        #expect(contradictions == [])
                    }
                    #expect(try await Store(client: client).shares() == shares)
                }
            }
        }
    }

    /// The log has the purchase, and the backup was made before its note.
    @Test func whatARestoredBackupLostIsSharedOnceSomebodyLooksAgain() async throws {
        try await withStore { store in
            try await store.sellFilm()
            let family = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "a")
            try await store.client.withTransaction { connection in
                _ = try connection.execute("DELETE FROM family_work")
            }
            try await store.shareAll()
            #expect(try await store.shares() == [])
            for isSharing in [false, true] {
                _ = try await store.families.include(
                    "alice",
                    sharing: isSharing,
                    in: family.id,
                    by: .nora,
                    trace: .begin()
                ).get()
            }
            try await store.shareAll()
            #expect(try await store.shares().map(\.accountID) == ["bob"])
        }
    }

    @Test func aMemberMayBuyWhatIsSharedAndKeepsIt() async throws {
        try await withStore { store in
            try await store.sellFilm()
            let family = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "a")
            try await store.shareAll()
            let own = try await store.buy(request("film"), key: "b", of: bob)
            #expect(own.reason == .purchase && !own.price.isZero)
            _ = try await store.families.end(family.id, by: .nora, trace: .begin()).get()
            try await store.shareAll()
            #expect(try await store.load(own.id).revokedAt == nil)
        }
    }

    @Test func aShareIsRestoredAndNotRefunded() async throws {
        try await withStore { store in
            try await store.sellFilm()
            _ = try await store.family("alice", "bob")
            try await store.buy(request("film"), key: "a")
            try await store.shareAll()
            let share = try #require(try await store.shares().first)
            try await store.finish(share.id)
            let reply = try await store.restores.restore(
                RestoreRequest(),
                bob,
                key: "r",
                trace: .begin()
            )
            guard case .restored(let restored, _) = reply else {
                return #expect(Bool(false), "\(reply)")
            }
            #expect(restored.map(\.originalID) == [share.id])
            #expect(restored.map(\.sharedFrom) == [share.sharedFrom])
            let refund = try await store.refunds.refund(share.id)
            guard case .refused(.isShared, _) = refund else {
                return #expect(Bool(false), "\(refund)")
            }
        }
    }

    /// Each look makes two shares at most, and asks for another look.
    @Test func manySharesAreMadeInSeveralLooks() async throws {
        try await withStore { store in
            for number in 1...5 {
                try await store.sellFilm("film\(number)")
                try await store.buy(request("film\(number)"), key: "\(number)")
            }
            let family = try await store.family("alice", "bob")
            try await store.shareAll(limit: 2)
            #expect(try await store.shares().count == 5)
            _ = try await store.families.end(family.id, by: .nora, trace: .begin()).get()
            try await store.shareAll(limit: 2)
            #expect(try await store.shares() == [])
        }
    }

    /// Instances that look at the same members at once make each share once.
    @Test func instancesAtOnceShareOnce() async throws {
        try await withStore(poolSize: 6) { store in
            try await store.sellFilm()
            _ = try await store.family("alice", "bob", "cleo")
            try await store.buy(request("film"), key: "a")
            try await store.note("alice", "bob", "cleo")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...6 { group.addTask { try await store.shareAll() } }
                try await group.waitForAll()
            }
            #expect(try await store.shares().map(\.accountID) == ["bob", "cleo"])
        }
    }

    /// Purchases that are committed while their buyer joins are shared all the same.
    @Test func noPurchaseIsLostBetweenBuyingAndJoining() async throws {
        try await withStore(poolSize: 8) { store in
            for number in 1...8 { try await store.sellFilm("film\(number)", price: usd(0)) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask {
                        let free = request("film\(number)", price: usd(0))
                        _ = try await store.add(free, key: "\(number)")
                    }
                }
                group.addTask { _ = try await store.family("alice", "bob") }
                try await group.waitForAll()
            }
            try await store.shareAll()
            #expect(try await store.shares().count == 8)
        }
    }

    @Test func aPurchaseWithoutAFamilyWritesNothingMore() async throws {
        try await withStore { store in
            try await store.sellFilm()
            try await store.buy(request("film"), key: "a")
            #expect(try await store.count("family_work") == 0)
        }
    }
}
