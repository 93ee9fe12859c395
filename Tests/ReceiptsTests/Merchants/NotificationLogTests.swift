import EventTypes
import Foundation
import Messaging
import Postgres
import ReceiptValidation
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// The log of notifications as it grows: the cost of a page, the deletion, and the limit of tests.
@Suite(.timeLimit(.minutes(10))) struct NotificationLogTests {
    /// Inserts half a year of notifications, with a mark for every hour.
    ///
    /// Ten hours share a database transaction, because a new cluster has not had that many.
    private func fill(
        _ store: NotificationsUnderTest,
        _ count: Int64,
        isMarked: Bool = true
    ) async throws {
        let end = store.clock.now()
        try await store.database.withClient { client in
            try await client.withTransaction { connection in
                try connection.execute(
                    """
                    INSERT INTO signing_chains (leaf_sha256, header, first_used_at)
                    VALUES (decode(repeat('00', 32), 'hex'), 'e30', \(end))
                    """
                )
                try connection.execute(
                    """
                    INSERT INTO notifications (xid, id, bundle_id, type, transaction_id,
                        is_asked_for, signed_at, signing_chain, payload, signature, state)
                    SELECT (2 + n * 430 / \(count))::text::xid8, gen_random_uuid(),
                        'com.example.app', CASE WHEN n % 1000 = 0 THEN 'REFUND'
                        ELSE 'ONE_TIME_CHARGE' END, n, false,
                        \(end) - make_interval(hours => 4300 - (n * 4300 / \(count))::int),
                        (SELECT max(number) FROM signing_chains), '{}', decode(repeat('00', 64), 'hex'),
                        'confirmed'
                    FROM generate_series(0, \(count - 1)) AS n
                    """
                )
                if isMarked {
                    try connection.execute(
                        """
                        INSERT INTO notification_marks
                        SELECT \(end) - make_interval(hours => 4300 - hour),
                            (2 + hour / 10)::text::xid8, (3 + hour / 10)::text::xid8
                        FROM generate_series(0, 4300) AS hour
                        """
                    )
                }
                _ = try connection.execute("ANALYZE notifications")
            }
        }
    }

    private func question(
        _ store: NotificationsUnderTest,
        hours: Int64 = 600,
        _ filter: String = ""
    ) throws -> NotificationHistoryQuery {
        let now = store.clock.now().millisecondsSinceEpoch
        let body = "{\"startDate\":\(now - hours * 3_600_000),\"endDate\":\(now + 1)\(filter)}"
        return try NotificationHistoryQuery(Data(body.utf8), in: .sandbox, at: store.clock.now())
    }

    /// Returns the number of 8 KB blocks that a page reads.
    private func blocks(
        _ store: NotificationsUnderTest,
        _ query: NotificationHistoryQuery,
        isBounded: Bool = true
    ) async throws -> Int {
        try await store.receipts.client.withConnection { connection in
            let bounds = try NotificationHistoryStore.bounds(of: query, on: connection)
            let plan = try connection.query(
                NotificationHistoryStore.statement(
                    of: NotificationsUnderTest.bundle,
                    query,
                    after: NotificationHistoryToken(xid: 0, position: 0),
                    within: isBounded ? bounds : NotificationLogBounds(),
                    limit: isBounded ? NotificationHistoryPage.portions[1] : 100_000,
                    prefix: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF)"
                )
            ).map { try $0.decode(String.self) }
            return try blocksRead(in: plan)
        }
    }

    @Test func aPageOfALongLogReadsNoMoreThanOneOfAShortLog() async throws {
        try await withNotifications { store in
            try await fill(store, 40_000)
            let lastHour = try question(store, hours: 1)
            // The marks save reading everything before the hour.
            #expect(try await blocks(store, lastHour, isBounded: false) > 500)
            #expect(try await blocks(store, lastHour) < 60)
            let one = try question(store, ",\"transactionId\":\"39990\"")
            #expect(try await blocks(store, one) < 60)
            let refunds = try question(store, ",\"notificationType\":\"REFUND\"")
            #expect(try await blocks(store, refunds) < 60)
        }
    }

    private func walk(
        _ store: NotificationsUnderTest,
        _ query: NotificationHistoryQuery
    ) async throws -> [[Int64]] {
        var pages: [[Int64]] = []
        var token: NotificationHistoryToken?
        while true {
            let (page, records) = try await store.handler.history(
                of: NotificationsUnderTest.bundle,
                query,
                after: token
            )
            #expect(records.count == page.positions.count)
            pages.append(page.positions)
            token = page.token
            if !page.hasMore { return pages }
        }
    }

    @Test func theMarksHideNothing() async throws {
        try await withNotifications { marked in
            try await fill(marked, 4_000)
            try await withNotifications { store in
                try await fill(store, 4_000, isMarked: false)
                for hours in [Int64(1), 100, 700] {
                    let found = try await walk(marked, try question(marked, hours: hours))
                    let all = Array(found.joined())
                    let unmarked = try await walk(store, try question(store, hours: hours))
                    #expect(Array(unmarked.joined()) == all)
                    #expect(all.count == Set(all).count)
                    #expect(abs(Int64(all.count) - hours * 4_000 / 4_300) <= 2)
                    #expect(found.count <= all.count / 20 + 2)
                }
            }
        }
    }

    @Test func aPageThatFindsLittleReadsSoMuchAndNoMore() async throws {
        try await withNotifications { store in
            try await fill(store, 30_000)
            // No try failed, so four thousand rows are read without a match.
            let pages = try await walk(store, try question(store, ",\"onlyFailures\":true"))
            #expect(pages.count > 1)
            #expect(pages.joined().isEmpty)
        }
    }

    @Test func anExpiredNotificationIsDeletedWithItsTries() async throws {
        try await withNotifications { store in
            store.merchant.reply { _, _ in .status(500) }
            try await store.receipts.apply([.of(.transactionPurchased, purchased(1_000_001))])
            try await store.untilSent(1)
            let keeper = NotificationLogHandler(
                client: store.receipts.client,
                retention: .seconds(180 * 86_400),
                now: store.clock.now,
                machineNow: store.clock.machineNow
            )
            store.clock.advance(by: .seconds(180 * 86_400))
            #expect(try await keeper.keep() == 0)
            store.clock.advance(by: .seconds(1))
            #expect(try await keeper.keep() == 1)
            #expect(try await store.states().isEmpty)
            #expect(try await store.results().isEmpty)
        }
    }

    @Test func aPendingOneStaysWhenTheStoresClockIsSetAhead() async throws {
        try await withNotifications(in: .production) { store in
            store.merchant.reply { _, _ in .status(500) }
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            try await store.untilSent(1)
            let keeper = NotificationLogHandler(
                client: store.receipts.client,
                retention: .seconds(180 * 86_400),
                now: store.clock.now,
                machineNow: store.clock.machineNow
            )
            store.clock.set(storeAhead: .seconds(400 * 86_400))
            #expect(try await keeper.keep() == 0)
            #expect(try await store.states() == ["pending"])

            // Nobody has sent it since, because the app has no endpoint any more.
            store.clock.advance(by: .seconds(181 * 86_400))
            #expect(try await keeper.keep() == 1)
            #expect(try await store.states().isEmpty)
        }
    }

    @Test func theOldestAreDeletedInBatchesUntilNoneIsLeft() async throws {
        try await withNotifications { store in
            try await fill(store, 4_300)
            store.clock.advance(by: .seconds(100 * 86_400))
            let keeper = NotificationLogHandler(
                client: store.receipts.client,
                retention: .seconds(180 * 86_400),
                now: store.clock.now,
                machineNow: store.clock.machineNow
            )
            // There is one for each hour, and the newest 80 days remain.
            #expect(try await keeper.keep() == 4_300 - 80 * 24)
            #expect(try await store.states().count == 80 * 24)
            let marks = try await store.receipts.count("SELECT count(*) FROM notification_marks")
            #expect((80 * 24...80 * 24 + 3).contains(marks))
        }
    }

    @Test func aRefundIsNotSentAgainOnceItsNotificationIsGone() async throws {
        try await withNotifications { store in
            let refunded = purchased(version: 3, revokedAt: TestChain.now)
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            try await store.receipts.apply([.of(.transactionRefunded, refunded)])
            try await store.untilSent(2)
            try await store.receipts.client.withTransaction { connection in
                _ = try connection.execute("DELETE FROM notifications")
            }
            try await store.receipts.apply([.of(.transactionRefunded, refunded)])
            #expect(try await store.states().isEmpty)
        }
    }

    @Test func anAppAsksForSoManyTestsAMinute() async throws {
        try await withNotifications { store in
            for _ in 0..<10 {
                _ = try await store.handler.sendTest(in: NotificationsUnderTest.bundle).get()
            }
            store.clock.advance(by: .seconds(20))
            guard
                case .failure(.tooMany(let wait)) = try await store.handler.sendTest(
                    in: NotificationsUnderTest.bundle
                )
            else {
                Issue.record("It was sent.")
                return
            }
            #expect(wait == .seconds(40))
            store.clock.advance(by: wait)
            _ = try await store.handler.sendTest(in: NotificationsUnderTest.bundle).get()
        }
    }

    @Test func testsAreAllowedAgainThoughTheStoreClockStands() async throws {
        try await withNotifications { store in
            for _ in 0..<10 {
                _ = try await store.handler.sendTest(in: NotificationsUnderTest.bundle).get()
            }
            store.clock.advance(by: .seconds(60))
            store.clock.set(storeAhead: .seconds(-60))
            #expect(store.clock.now() == TestChain.now)
            _ = try await store.handler.sendTest(in: NotificationsUnderTest.bundle).get()
        }
    }

    @Test func afterARotationUnsentOnesAreSignedWithTheNewLeaf() async throws {
        try await withNotifications(in: .production) { store in
            store.merchant.reply { _, _ in .status(500) }
            try await store.receipts.apply([.of(.transactionPurchased, purchased())])
            let rescinded = NotificationRequest(
                notificationType: "RESCIND_CONSENT",
                transactionId: purchased().id
            )
            _ = try await store.handler.send(rescinded, in: NotificationsUnderTest.bundle).get()
            try await store.untilSent(2)
            let before = try store.sent()
            let later = try TestChain().signingChain()
            let rotated = store.rotated(to: later)
            store.clock.advance(by: .seconds(3600))
            try await rotated.untilSent(4)
            let validator = rotated.validator()
            let bodies = store.merchant.deliveries.suffix(2).map(\.body)
            var sent: [JWSNotification] = []
            for body in bodies {
                let jws = try NotificationsUnderTest.signedPayload(in: body)
                let notification = try validator.verify(jws, as: JWSNotification.self)
                #expect(notification.signedDate == store.clock.now().date)
                if let signed = notification.data?.signedTransactionInfo {
                    let content = try validator.verify(signed, as: JWSTransaction.self)
                    #expect(content.transactionId == purchased().id.rawValue)
                    #expect(content.signedDate == store.clock.now().date)
                }
                if let signed = notification.appData?.signedAppTransactionInfo {
                    _ = try validator.verify(signed, as: JWSAppTransaction.self)
                }
                sent.append(notification)
            }
            #expect(Set(sent.map(\.notificationUUID)) == Set(before.map(\.notificationUUID)))
            // The history shows the same.
            let query = try question(store)
            // Other databases of the cluster may delay the visibility of rows.
            let records = try await eventually("both are shown") {
                let records = try await rotated.handler.history(
                    of: NotificationsUnderTest.bundle,
                    query,
                    after: nil
                ).records
                return records.count == 2 ? records : nil
            }
            for record in records {
                _ = try validator.verify(
                    try rotated.handler.signedPayload(record.content),
                    as: JWSNotification.self
                )
            }
        }
    }
}
