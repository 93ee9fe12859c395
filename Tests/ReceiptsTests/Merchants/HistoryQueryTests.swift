import EventTypes
import ServiceKit
import Testing
import TestSupport

@testable import Receipts

@Suite struct HistoryQueryTests {
    private func query(
        _ text: String,
        _ version: HistoryQuery.Version = .v2
    ) throws(ServerAPIError) -> HistoryQuery {
        try HistoryQuery(QueryParameters(text), version: version)
    }

    private func candidate(
        _ product: String = "coins",
        _ type: ProductType = .consumable,
        at milliseconds: Int64 = 1000,
        isRevoked: Bool = false,
        isRefunded: Bool? = nil,
        isFinished: Bool = false
    ) -> HistoryQuery.Candidate {
        HistoryQuery.Candidate(
            productID: ProductID(unchecked: product),
            productType: type,
            purchasedAt: StoreTime(millisecondsSinceEpoch: milliseconds),
            isRevoked: isRevoked,
            isRefunded: isRefunded ?? isRevoked,
            isFinished: isFinished
        )
    }

    @Test(
        arguments: [
            ("startDate=", 4_000_015), ("startDate=1.5", 4_000_015), ("startDate=-1", 4_000_015),
            ("startDate=1&startDate=2", 4_000_015), ("startDate=999999999999999", 4_000_015),
            ("endDate=x", 4_000_016), ("endDate=1&endDate=1", 4_000_016),
            ("startDate=5&endDate=5", 4_000_013), ("startDate=6&endDate=5", 4_000_013),
            ("productId=", 4_000_023), ("productId=a%20b", 4_000_023),
            ("productType=consumable", 4_000_022),
            ("productType=CONSUMABLE&productType=", 4_000_022),
            ("sort=ascending", 4_000_021), ("sort=ASCENDING&sort=DESCENDING", 4_000_021),
            ("subscriptionGroupIdentifier=", 4_000_024),
            ("subscriptionGroupIdentifier=" + String(repeating: "%CC%81", count: 256), 4_000_024),
            ("inAppOwnershipType=OWNED", 4_000_026),
            ("inAppOwnershipType=PURCHASED&inAppOwnershipType=FAMILY_SHARED", 4_000_026),
            ("revoked=1", 4_000_030), ("revoked=true&revoked=false", 4_000_030),
            ("excludeRevoked=x", 4_000_025), ("excludeRevoked=true&revoked=true", 4_000_025),
        ]
    )
    func eachWrongParameterHasItsNumber(_ text: String, _ code: Int) {
        let error = #expect(throws: ServerAPIError.self) { try query(text) }
        #expect(error?.code == code)
    }

    @Test(
        arguments: [
            "", "revoked=True", "revoked=FALSE", "unknown=1&unknown=2", "sort=DESCENDING",
            "startDate=0&endDate=253402300799999", "productId=a&productId=b",
            "excludeRevoked=false",
            "productType=AUTO_RENEWABLE&productType=NON_RENEWABLE&productType=NON_CONSUMABLE",
        ]
    )
    func whatClientsSendIsTaken(_ text: String) {
        #expect(throws: Never.self) { try query(text) }
    }

    @Test func aTransactionMatchesEveryFilterOrIsLeftOut() throws {
        let dates = try query("startDate=1000&endDate=2000")
        #expect(dates.selects(candidate(at: 1000)) && dates.selects(candidate(at: 1999)))
        #expect(!dates.selects(candidate(at: 999)) && !dates.selects(candidate(at: 2000)))
        let products = try query("productId=coins&productId=gems&productType=CONSUMABLE")
        #expect(products.selects(candidate("gems")))
        #expect(!products.selects(candidate("pro")))
        #expect(!products.selects(candidate("gems", .nonConsumable)))
        let revoked = try query("revoked=true")
        #expect(revoked.selects(candidate(isRevoked: true)) && !revoked.selects(candidate()))
        for text in ["revoked=false", "excludeRevoked=true"] {
            let kept = try query(text)
            #expect(!kept.selects(candidate(isRevoked: true)) && kept.selects(candidate()))
        }
        var shared = candidate()
        shared.isFamilyShared = true
        #expect(try query("inAppOwnershipType=FAMILY_SHARED").selects(shared))
        #expect(!(try query("inAppOwnershipType=FAMILY_SHARED").selects(candidate())))
        #expect(try query("inAppOwnershipType=PURCHASED").selects(candidate()))
        #expect(!(try query("inAppOwnershipType=PURCHASED").selects(shared)))
        #expect(!(try query("subscriptionGroupIdentifier=g1").selects(candidate())))
        var club = candidate("club", .autoRenewableSubscription)
        club.subscriptionGroup = "g1"
        let groups = "subscriptionGroupIdentifier=g0&subscriptionGroupIdentifier=g1"
        #expect(try query(groups).selects(club))
        #expect(!(try query("subscriptionGroupIdentifier=g2").selects(club)))
        #expect(try query("productType=AUTO_RENEWABLE").selects(club))
    }

    @Test func theFirstFormLeavesOutFinishedConsumablesOnly() throws {
        let (v1, v2) = (try query("", .v1), try query("", .v2))
        let finished = candidate(isFinished: true)
        #expect(!v1.selects(finished) && v2.selects(finished))
        #expect(v1.selects(candidate()))
        #expect(v1.selects(candidate(isRevoked: true, isFinished: true)))
        #expect(v1.selects(candidate("pro", .nonConsumable, isFinished: true)))
    }

    @Test func theOrderOfParametersMakesNoOtherQuery() throws {
        let one = try query("productId=a&productId=b&revoked=true").fingerprint
        #expect(try query("revoked=True&productId=b&productId=a&x=y").fingerprint == one)
        for other in ["productId=a&revoked=true", "productId=a&productId=b&revoked=false"] {
            #expect(try query(other).fingerprint != one)
        }
        #expect(try query("", .v1).fingerprint != query("", .v2).fingerprint)
    }
}

@Suite struct HistoryRevisionTests {
    private func scope(_ account: String = "ada", _ query: String = "q") -> HistoryRevision.Scope {
        HistoryRevision.Scope(
            owner: OwnerKey(
                account: AccountID(unchecked: account),
                bundle: BundleID(unchecked: "com.example.app")
            ),
            query: query
        )
    }

    @Test(arguments: [0, 1, 255, 256, Int64.max])
    func aTokenSaysWhatWasPutIntoIt(_ cursor: Int64) throws {
        let revision = HistoryRevision(cursor: cursor, floor: 7, top: 1 << 40)
        let token = revision.token(scope: scope())
        #expect(try HistoryRevision(token: token, scope: scope()) == revision)
    }

    @Test func aTokenIsGoodForItsAccountAndQueryOnly() {
        let token = HistoryRevision(cursor: 5).token(scope: scope())
        for other in [scope("bob"), scope("ada", "other")] {
            #expect(throws: ServerAPIError.invalidRequestRevision) {
                try HistoryRevision(token: token, scope: other)
            }
        }
    }

    @Test(arguments: ["", "0", "1700000000000_2000000", "AAAA", String(repeating: "A", count: 44)])
    func whatIsNoTokenIsRefused(_ token: String) {
        #expect(throws: ServerAPIError.invalidRequestRevision) {
            try HistoryRevision(token: token, scope: scope())
        }
    }

    @Test func aNegativePositionIsRefused() {
        let token = HistoryRevision(cursor: -1).token(scope: scope())
        #expect(throws: ServerAPIError.invalidRequestRevision) {
            try HistoryRevision(token: token, scope: scope())
        }
    }
}

@Suite struct HistoryPageTests {
    /// A history in memory.
    ///
    /// Each transaction has one position, and a change moves it to the end.
    private struct History {
        var positions: [Int64: Int64] = [:]
        var newest: Int64 = 0

        mutating func change(_ transaction: Int64) {
            newest += 1
            positions[transaction] = newest
        }

        func rows(_ query: HistoryQuery, from cursor: Int64, floor: Int64, limit: Int)
            -> [HistoryPage.Row]
        {
            let rows = positions.filter { _, position in
                query.order == .ascending
                    ? position > cursor : position < cursor && position > floor
            }
            let sorted = rows.sorted {
                query.order == .ascending ? $0.value < $1.value : $0.value > $1.value
            }
            return sorted.prefix(limit).map { transaction, position in
                HistoryPage.Row(
                    transactionID: TransactionID(number: transaction),
                    position: position,
                    candidate: HistoryQuery.Candidate(
                        productID: ProductID(unchecked: transaction % 50 == 0 ? "rare" : "coins"),
                        productType: .consumable,
                        purchasedAt: StoreTime(millisecondsSinceEpoch: 0),
                        isRevoked: false,
                        isRefunded: false,
                        isFinished: false
                    )
                )
            }
        }

        /// Returns a page, and the number of rows read for it.
        func page(_ query: HistoryQuery, from start: HistoryRevision) -> (HistoryPage, Int) {
            var page = HistoryPage(query, from: start)
            var read = 0
            for limit in HistoryPage.portions {
                let rows = rows(query, from: page.cursor, floor: start.floor, limit: limit)
                read += rows.count
                if !page.take(rows, limit: limit) { break }
            }
            page.close(newest: newest)
            return (page, read)
        }
    }

    private func query(_ text: String) throws -> HistoryQuery {
        try HistoryQuery(QueryParameters(text), version: .v2)
    }

    @Test(arguments: ["sort=ASCENDING", "sort=DESCENDING"], [0, 1, 19, 20, 21, 40, 41, 130])
    func everyTransactionIsOnOnePage(_ text: String, _ count: Int) throws {
        let query = try query(text)
        var history = History()
        for number in 0..<count { history.change(Int64(number)) }
        var found: [Int64] = []
        var revision = HistoryRevision.start(query.order)
        var hasMore = true
        while hasMore {
            let (page, _) = history.page(query, from: revision)
            #expect(page.transactionIDs.count <= 20)
            found += page.transactionIDs.map(\.number)
            (revision, hasMore) = (page.revision, page.hasMore)
        }
        let wanted = (0..<Int64(count)).map { $0 }
        #expect(found == (query.order == .ascending ? wanted : wanted.reversed()))
    }

    @Test(arguments: ["sort=ASCENDING", "sort=DESCENDING"], 0..<40)
    func nothingIsPassedOverWhileTheHistoryChanges(_ text: String, _ seed: Int) throws {
        let query = try query(text)
        var random = SeededGenerator(seed: UInt64(seed))
        var history = History()
        for number in 0..<100 { history.change(Int64(number)) }
        /// The position at which each transaction was last seen.
        var seen: [Int64: Int64] = [:]
        var revision = HistoryRevision.start(query.order)
        var hasMore = true
        var pages = 0
        while hasMore || pages < 14 {
            let (page, _) = history.page(query, from: revision)
            for id in page.transactionIDs { seen[id.number] = history.positions[id.number] }
            (revision, hasMore) = (page.revision, page.hasMore)
            pages += 1
            // Changes stop after a while, so that the walk can end.
            guard pages < 12 else { continue }
            for _ in 0..<Int.random(in: 0...15, using: &random) {
                history.change(Int64.random(in: 0..<120, using: &random))
            }
        }
        #expect(seen == history.positions)
    }

    @Test(arguments: ["", "sort=DESCENDING"])
    func whoeverGoesOnWhileThereIsMoreHasWhatMovedMeanwhile(_ text: String) throws {
        let query = try query(text)
        var history = History()
        for number in 0..<50 { history.change(Int64(number)) }
        var found: [Int64] = []
        var revision = HistoryRevision.start(query.order)
        var hasMore = true
        while hasMore {
            let (page, _) = history.page(query, from: revision)
            // It is on the last page of the other order, and has not been read yet.
            if found.isEmpty { history.change(query.order == .ascending ? 49 : 0) }
            found += page.transactionIDs.map(\.number)
            (revision, hasMore) = (page.revision, page.hasMore)
        }
        #expect(Set(found) == Set(0..<50) && found.count == 50)
    }

    @Test(arguments: ["productId=rare", "productId=rare&sort=DESCENDING", "productId=none"])
    func aPageCostsTheSameWhateverItsFilterChooses(_ text: String) throws {
        let query = try query(text)
        var history = History()
        for number in 0..<10_000 { history.change(Int64(number)) }
        var found = 0
        var revision = HistoryRevision.start(query.order)
        var hasMore = true
        while hasMore {
            let (page, read) = history.page(query, from: revision)
            #expect(read <= HistoryPage.portions.reduce(0, +))
            found += page.transactionIDs.count
            (revision, hasMore) = (page.revision, page.hasMore)
        }
        #expect(found == (text.contains("rare") ? 200 : 0))
    }

    @Test(arguments: ["", "sort=DESCENDING"])
    func theLastRevisionIsGoodForWhatComesLater(_ text: String) throws {
        let query = try query(text)
        var history = History()
        for number in 0..<5 { history.change(Int64(number)) }
        let (last, _) = history.page(query, from: .start(query.order))
        #expect(!last.hasMore)
        let (nothing, _) = history.page(query, from: last.revision)
        #expect(nothing.transactionIDs.isEmpty && !nothing.hasMore)
        history.change(2)
        history.change(77)
        let (later, _) = history.page(query, from: nothing.revision)
        #expect(Set(later.transactionIDs.map(\.number)) == [2, 77])
    }
}
