import ClockAndIDs
import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import StoreHarness

/// The measurements of `devstore signing` that call a store over HTTP.
struct HistoryRun {
    private let terminal: Terminal
    private let store: StoreHarness
    private let token: String
    private let merchant: WebhookReceiver

    init(terminal: Terminal, store: StoreHarness) async throws {
        self.terminal = terminal
        self.store = store
        token = try store.keys.serverToken()
        merchant = try await WebhookReceiver.start()
        _ = try await store.administrator.setNotificationEndpoint(to: merchant.url).value
    }

    // MARK: - A receipt

    /// Makes purchases, and requests the receipt many times.
    ///
    /// - Returns: The median in milliseconds.
    func receipt(of count: Int) async throws -> Double {
        terminal.heading("A receipt of \(Terminal.describe(count)) purchases, over HTTP")
        let client = try store.client(account: "collector")
        let last = try await buy(count, as: client)
        try await eventually(within: .seconds(120), "all receipts") {
            try await store.withDatabase(of: .receipts) { connection in
                try connection.query(
                    """
                    SELECT count(*) FROM signed_transactions
                    JOIN app_transactions USING (app_transaction_id)
                    WHERE account_id = 'collector'
                    """
                ).first?.decode(Int64.self)
            } == Int64(count) ? true : nil
        }
        _ = try await client.receipt(last).value
        let times = try await time(200) {
            let answer = try await StoreHTTP.send(
                .GET,
                store.urls.receipts + "/v1/receipts/app",
                headers: [("authorization", "Bearer \(client.token)")]
            )
            guard answer.status == 200 else { throw HarnessError(answer.text) }
        }
        terminal.table(of: [("asked → answered", times)])
        return times.p50
    }

    private func buy(_ count: Int, as client: StoreClient) async throws -> TransactionID {
        try await withThrowingTaskGroup(of: TransactionID.self) { group in
            for number in 0..<count {
                if number >= 64 { _ = try await group.next() }
                group.addTask {
                    try await client.addUntilAnswered(.sample(SampleCatalog.hint)).value
                        .transaction.id
                }
            }
            var last: TransactionID?
            for try await id in group { last = max(last ?? id, id) }
            guard let last else { throw HarnessError("Nothing was bought.") }
            return last
        }
    }

    // MARK: - A history

    private struct Page: Decodable {
        var revision: String
        var hasMore: Bool
        var signedTransactions: [String]
    }

    /// Creates an account with many transactions and reads its history page by page.
    ///
    /// - Parameter count: The number of transactions, which are copies of one purchase.
    /// - Returns: The ratio of the p50 of the last pages to that of the first.
    /// - Throws: ``HarnessError`` if the history is incomplete.
    func walk(_ count: Int) async throws -> Double {
        terminal.heading("A history of \(Terminal.describe(count)) transactions")
        let id = try await buy(1, as: try store.client(account: "historian"))
        try await eventually("the receipt") {
            try await store.client(account: "historian").receipt(id).valueIfAny
        }
        try await store.withDatabase(of: .receipts) { connection in
            try connection.execute(
                """
                INSERT INTO signed_transactions (transaction_id, original_transaction_id,
                    app_transaction_id, history_position, purchased_at, signed_at, revision,
                    signing_chain, reason, product_id, product_type, payload, signature)
                SELECT 800000000000 + n, 800000000000 + n, app_transaction_id,
                    nextval('history_positions'), purchased_at, signed_at, revision,
                    signing_chain, reason, product_id, product_type, payload, signature
                FROM signed_transactions, generate_series(1, \(Int64(count - 1))) AS n
                WHERE transaction_id = \(id.number)
                """
            )
            try connection.execute("ANALYZE signed_transactions")
        }
        var times: [Double] = []
        var found = 0
        var page = Page(revision: "", hasMore: true, signedTransactions: [])
        while page.hasMore {
            let suffix = page.revision.isEmpty ? "" : "?revision=\(page.revision)"
            let start = ContinuousClock.now
            page = try await ask(.GET, "/inApps/v2/history/\(id)\(suffix)", as: Page.self)
            times.append((ContinuousClock.now - start).fractionalMilliseconds)
            found += page.signedTransactions.count
        }
        guard found == count else { throw HarnessError("\(found) of \(count) were found.") }
        let part = max(1, times.count / 10)
        let first = Latencies(milliseconds: Array(times.prefix(part)))
        let last = Latencies(milliseconds: Array(times.suffix(part)))
        terminal.table(of: [
            ("the first \(part) of \(times.count) pages", first), ("the last \(part)", last),
        ])
        return last.p50 / first.p50
    }

    // MARK: - Notifications

    private struct NotificationPage: Decodable {
        struct Item: Decodable {}
        var hasMore: Bool
        var notificationHistory: [Item]
    }

    /// Requests the history of notifications, from a short log and from a long one.
    ///
    /// - Parameter count: The number of notifications in the long log, which are copies of one.
    /// - Returns: The ratio of the p50 of a page from the long log to that from the short one, for
    ///   the slowest kind of request.
    /// - Throws: ``HarnessError`` for an unexpected answer.
    func notifications(_ count: Int) async throws -> Double {
        terminal.heading("Notifications in a log of \(Terminal.describe(count))")
        let id = try await buy(30, as: try store.client(account: "told"))
        let refunded = try await store.administrator.refund(id).value.transaction.id
        try await eventually("the refund to be told") {
            try await notifications("\"notificationType\":\"REFUND\"").notificationHistory.isEmpty
                ? nil : true
        }
        let questions = [
            ("the last hour", ""),
            ("of one transaction", "\"transactionId\":\"\(refunded)\""),
            ("refunds", "\"notificationType\":\"REFUND\""),
        ]
        var short: [Latencies] = []
        for (_, filter) in questions {
            short.append(try await time(200) { _ = try await notifications(filter) })
        }
        try await lengthen(to: count)
        var worst = 0.0
        var rows: [(name: String, latencies: Latencies)] = []
        for (question, before) in zip(questions, short) {
            let after = try await time(200) { _ = try await notifications(question.1) }
            rows += [("\(question.0): short log", before), ("\(question.0): long log", after)]
            worst = max(worst, after.p50 / before.p50)
        }
        terminal.table(of: rows)
        return worst
    }

    /// Inserts half a year of notifications before the existing ones, with a mark for each hour.
    private func lengthen(to count: Int) async throws {
        try await store.withDatabase(of: .receipts) { connection in
            try connection.execute(
                """
                INSERT INTO notifications (xid, id, bundle_id, type, subtype, transaction_id,
                    is_asked_for, signed_at, signing_chain, payload, signature, state,
                    next_attempt_at)
                SELECT (1 + hour / 10)::text::xid8, gen_random_uuid(), bundle_id, type, subtype,
                    700000000000 + n, false, now() - make_interval(hours => 4300 - hour),
                    signing_chain, payload, signature, 'confirmed', NULL
                FROM (
                    SELECT * FROM notifications WHERE type = 'ONE_TIME_CHARGE' LIMIT 1
                ) AS model, generate_series(1, \(Int64(count))) AS n,
                    LATERAL (SELECT (n * 4300 / \(Int64(count)))::int AS hour) AS place
                """
            )
            try connection.execute(
                """
                INSERT INTO notification_marks (at, settled_before, begun_before)
                SELECT now() - make_interval(hours => 4300 - hour), (1 + hour / 10)::text::xid8,
                    (2 + hour / 10)::text::xid8
                FROM generate_series(0, 4297) AS hour
                """
            )
            try connection.execute("ANALYZE notifications")
        }
    }

    private func notifications(_ filter: String) async throws -> NotificationPage {
        let now = StoreTime.wallClock().millisecondsSinceEpoch
        // All notifications are requested for the last hour; those of one transaction or type may
        // be older.
        let start = filter.isEmpty ? now - 3_600_000 : now - 28 * 86_400_000
        let body =
            "{\"startDate\":\(start),\"endDate\":\(now + 60_000)"
            + (filter.isEmpty ? "}" : ",\(filter)}")
        return try await ask(
            .POST,
            "/inApps/v1/notifications/history",
            body: body,
            as: NotificationPage.self
        )
    }

    // MARK: - Asking

    private func ask<Answer: Decodable>(
        _ method: HTTPMethod,
        _ path: String,
        body: String? = nil,
        as type: Answer.Type
    ) async throws -> Answer {
        let answer = try await StoreHTTP.send(
            method,
            store.urls.receipts + path,
            headers: [
                ("authorization", "Bearer \(token)"), ("content-type", "application/json"),
            ],
            body: body.map { Array($0.utf8) }
        )
        guard answer.status == 200 else { throw HarnessError("\(answer.status) \(answer.text)") }
        return try answer.decode(type)
    }

    /// Measures an action many times, one after the other.
    private func time(_ count: Int, _ work: () async throws -> Void) async throws -> Latencies {
        var times: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try await work()
            times.append(ContinuousClock.now - start)
        }
        return Latencies(times)
    }
}
