import EventTypes
import Foundation
import Postgres
import StoreAPI
import StoreHarness

/// Accounts that subscribe over HTTP, and the clock of their store.
struct BenchSubscribers: Sendable {
    let store: StoreHarness
    let count: Int

    /// The subscribers that ask at once.
    static let askers = 64
    /// The pause between two looks at the progress, which costs the store something.
    static let pause = Duration.milliseconds(100)

    /// The client of a subscriber.
    func client(_ number: Int) throws -> StoreClient {
        try store.client(account: "subscriber-\(number)")
    }

    /// Has subscribers act, some at a time, and collects what comes of it in any order.
    func each<Value: Sendable>(
        of numbers: Range<Int>,
        _ act: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: [Value].self) { group in
            for asker in 0..<Self.askers {
                group.addTask {
                    var values: [Value] = []
                    let first = numbers.lowerBound + asker
                    for number in stride(from: first, to: numbers.upperBound, by: Self.askers) {
                        values.append(try await act(number))
                    }
                    return values
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Changes the subscription that is sold.
    ///
    /// - Throws: ``HarnessError`` if the catalog refuses the change.
    func sell(_ draft: ProductDraft) async throws {
        let answer = try await store.administrator.put(draft, as: SampleCatalog.club)
        guard (200..<300).contains(answer.status) else {
            throw HarnessError("The change is refused with \(answer.status): \(answer.text)")
        }
    }

    /// Sells each a subscription, and waits until they are delivered.
    func subscribe() async throws -> [AcceptedPayment] {
        let payments = try await each(of: 0..<count) { number -> AcceptedPayment in
            try await pay(.sample(SampleCatalog.club), as: number)
        }
        try await untilDelivered(count)
        return payments
    }

    /// Has a subscriber pay.
    func pay(_ request: PaymentRequest, as number: Int) async throws -> AcceptedPayment {
        let transaction = try await client(number).addUntilAnswered(request).value.transaction
        return AcceptedPayment(
            transactionID: transaction.id,
            account: transaction.accountID
        )
    }

    /// The id of the newest transaction in any queue; 0 if there is none.
    func newestTransaction() async throws -> Int64 {
        try await store.withDatabase(of: .fulfillment) { connection in
            try connection.query(
                "SELECT coalesce(max(transaction_id), 0) FROM queue_transactions"
            ).first?.decode(Int64.self)
        } ?? 0
    }

    /// Waits until the queues have so many delivered periods of the subscribers.
    ///
    /// A look reads each of these periods, so the pause after it is longer than the look.
    ///
    /// - Parameters:
    ///   - periods: The number of periods.
    ///   - last: The id of the last transaction that does not count.
    /// - Throws: ``HarnessError`` if it takes half an hour.
    func untilDelivered(_ periods: Int, after last: Int64 = 0) async throws {
        try await eventually(within: .seconds(1800), "\(periods) periods to be delivered") {
            let start = ContinuousClock.now
            let known = try await store.withDatabase(of: .fulfillment) { connection in
                try connection.query(
                    """
                    SELECT count(*) FROM queue_transactions
                    WHERE transaction_id > \(last) AND account_id LIKE 'subscriber-%'
                        AND is_delivered
                    """
                ).first?.decode(Int64.self)
            }
            if known == Int64(periods) { return true }
            let look = ContinuousClock.now - start
            try await Task.sleep(for: max(Self.pause, look * 3))
            return nil
        }
    }

    /// Waits until the newest paid renewal is delivered; a look reads one row.
    ///
    /// Renewals are delivered in about the order of their ids. So only a few are left then, and few looks
    /// have to count all of them.
    ///
    /// - Throws: ``HarnessError`` if it takes half an hour.
    func untilTheNewestRenewalIsDelivered() async throws {
        let newest = try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT id FROM transactions WHERE reason = 'renewal' AND state = 'purchased'
                ORDER BY id DESC LIMIT 1
                """
            ).first?.decode(Int64.self)
        }
        guard let newest else { return }
        try await eventually(within: .seconds(1800), "the newest renewal to be delivered") {
            let isDelivered = try await store.withDatabase(of: .fulfillment) { connection in
                try connection.query(
                    "SELECT is_delivered FROM queue_transactions WHERE transaction_id = \(newest)"
                ).first?.decode(Bool.self)
            }
            if isDelivered == true { return true }
            try await Task.sleep(for: Self.pause)
            return nil
        }
    }

    /// Audits the books, in which nobody has finished these payments.
    ///
    /// - Returns: The report, which is clean.
    /// - Throws: ``HarnessError`` if the audit finds something, which is shown.
    @discardableResult
    func audit(
        _ accepted: [AcceptedPayment],
        _ terminal: Terminal
    ) async throws -> AuditReport {
        let audit = AuditReport(
            of: try await store.reconcile(within: .seconds(60)),
            accepted: accepted,
            isFinished: false
        )
        guard audit.isClean else {
            terminal.show(audit)
            throw HarnessError("The guarantee is broken: \(audit.verdict).")
        }
        return audit
    }

    /// Advances the clock, and waits until it is there.
    func advance(by span: String) async throws {
        let administrator = try store.administrator
        let key = UUID().uuidString
        let target = try await eventually("an advance of the clock to begin") {
            let answer = try await administrator.advanceClock(by: span, key: key)
            return try answer.asksToTryAgain ? nil : answer.value.target
        }
        try await eventually(within: .seconds(1800), "the clock to be advanced") {
            let start = ContinuousClock.now
            let clock = try await administrator.clock().value
            if clock.status == .ready, clock.now >= target { return true }
            // The store looks for due work to answer.
            let look = ContinuousClock.now - start
            try await Task.sleep(for: min(max(Self.pause, look * 5), .milliseconds(250)))
            return nil
        }
    }

    /// Advances the clock to the minute before the first charge for an account's next period is due.
    func advanceToTheFirstCharge(of payment: AcceptedPayment) async throws {
        let client = try store.client(account: payment.account.rawValue)
        let known = try await client.subscriptions().value.subscriptions.first
        let now = try await store.administrator.clock().value.now
        guard let end = known?.period.end else {
            throw HarnessError("The first subscriber has no subscription.")
        }
        let distance = end.duration(since: now) - .seconds(86_400 + 60)
        try await advance(by: "\(distance.milliseconds)ms")
    }
}
