import EventTypes
import Postgres

/// What `fulfillment` has in its books.
struct FulfillmentBooks: Sendable {
    struct Entry: Sendable {
        var state: String
        var isDelivered: Bool
        var isFinished: Bool
        /// How many deliveries it has, and how many of them are made.
        var deliveries: Int64
        var delivered: Int64
        /// How many of its deliveries are credits, and how many grants were entered.
        var credits: Int64
        var grants: Int64
    }

    let transactions: [Int64: Entry]
    let finishedEvents: [String: Int64]
    let entitlements: Int64
    /// The webhooks that are delivered, by their id, with their transaction.
    let webhooks: [String: Int64]

    init(on connection: isolated PostgresConnection) throws {
        var transactions: [Int64: Entry] = [:]
        for row in try connection.query(
            """
            SELECT queued.transaction_id, queued.state, queued.is_delivered,
                queued.finished_at IS NOT NULL, coalesce(delivery.count, 0),
                coalesce(delivery.delivered, 0), coalesce(delivery.credits, 0),
                coalesce(credit.grants, 0)
            FROM queue_transactions queued
            LEFT JOIN (
                SELECT transaction_id, count(*),
                    count(*) FILTER (WHERE state = 'delivered') AS delivered,
                    count(*) FILTER (WHERE kind = 'credit') AS credits
                FROM deliveries WHERE target NOT LIKE '%:refund' GROUP BY transaction_id
            ) delivery USING (transaction_id)
            LEFT JOIN (
                SELECT transaction_id, count(*) AS grants
                FROM credit_entries WHERE kind = 'grant' GROUP BY transaction_id
            ) credit USING (transaction_id)
            """
        ) {
            let (id, state, isDelivered, isFinished, deliveries, delivered, credits, grants) =
                try row.decode(
                    Int64.self,
                    String.self,
                    Bool.self,
                    Bool.self,
                    Int64.self,
                    Int64.self,
                    Int64.self,
                    Int64.self
                )
            transactions[id] = Entry(
                state: state,
                isDelivered: isDelivered,
                isFinished: isFinished,
                deliveries: deliveries,
                delivered: delivered,
                credits: credits,
                grants: grants
            )
        }
        self.transactions = transactions
        finishedEvents = try eventCounts(of: .transactionFinished, on: connection)
        var webhooks: [String: Int64] = [:]
        for row in try connection.query(
            """
            SELECT transaction_id, split_part(target, ':', 1)
                || CASE WHEN target LIKE '%:refund' THEN '_refund' ELSE '' END
            FROM deliveries WHERE kind = 'webhook' AND state = 'delivered'
            """
        ) {
            let (id, place) = try row.decode(Int64.self, String.self)
            webhooks["delivery_\(id)_\(place)"] = id
        }
        self.webhooks = webhooks
        entitlements =
            try connection.query("SELECT count(*) FROM entitlements").first?.decode(Int64.self)
            ?? 0
    }

    /// The transactions that were finished.
    var finished: Set<Int64> { Set(transactions.filter(\.value.isFinished).keys) }

    func check(_ report: inout AuditReport, payments: PaymentsBooks, isFinished: Bool) {
        report.count("deliveries", transactions.values.reduce(0) { $0 + Int($1.delivered) })
        report.count("credit grants", transactions.values.reduce(0) { $0 + Int($1.grants) })
        report.count("entitlements", Int(entitlements))
        report.count("finished", finished.count)
        for (id, transaction) in payments.transactions {
            guard let queued = transactions[id] else {
                report.add(.lost, id, "\(transaction.state), and never reached the queue")
                continue
            }
            if queued.state != transaction.state {
                report.add(
                    .lost,
                    id,
                    "\(transaction.state) in payments, \(queued.state) in the queue"
                )
            }
            check(id, transaction, queued, isFinished: isFinished, &report)
        }
        for id in transactions.keys where payments.transactions[id] == nil {
            report.add(.wrong, id, "in the queue, and unknown to payments")
        }
    }

    private func check(
        _ id: Int64,
        _ transaction: PaymentsBooks.Entry,
        _ queued: Entry,
        isFinished: Bool,
        _ report: inout AuditReport
    ) {
        let isPaid = ["purchased", "restored"].contains(transaction.state)
        if isPaid && !transaction.isRevoked {
            if !queued.isDelivered && isFinished {
                report.add(.lost, id, "paid, and not delivered")
            }
            if queued.deliveries < transaction.deliveryCount {
                report.add(
                    .lost,
                    id,
                    "\(queued.deliveries) deliveries of a plan of \(transaction.deliveryCount)"
                )
            }
            if queued.deliveries > transaction.deliveryCount {
                report.add(
                    .doubled,
                    id,
                    "\(queued.deliveries) deliveries of a plan of \(transaction.deliveryCount)"
                )
            }
            if isFinished && queued.delivered < queued.deliveries {
                report.add(
                    .lost,
                    id,
                    "\(queued.deliveries - queued.delivered) deliveries are not made"
                )
            }
        }
        if !isPaid && queued.delivered > 0 {
            report.add(.wrong, id, "\(transaction.state), and delivered")
        }
        if queued.grants > queued.credits {
            report.add(.doubled, id, "\(queued.grants) grants for \(queued.credits) credits")
        }
        if isPaid && queued.delivered == queued.deliveries && queued.grants < queued.credits {
            report.add(.lost, id, "\(queued.grants) grants for \(queued.credits) credits")
        }
        let events = finishedEvents["\(id)"] ?? 0
        if queued.isFinished && events != 1 {
            report.add(
                events == 0 ? .lost : .doubled,
                id,
                "its finish was told \(events) times"
            )
        }
        if isFinished && isPaid && !queued.isFinished {
            report.add(.lost, id, "delivered, and not finished")
        }
    }
}
