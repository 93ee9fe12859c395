import EventTypes
import Postgres

/// What `receipts` has in its books.
struct ReceiptsBooks: Sendable {
    let receipts: Set<Int64>
    let finishes: Set<Int64>
    let issuedEvents: [String: Int64]

    init(on connection: isolated PostgresConnection) throws {
        receipts = Set(
            try connection.query("SELECT transaction_id FROM signed_transactions").map {
                try $0.decode(Int64.self)
            }
        )
        finishes = Set(
            try connection.query("SELECT transaction_id FROM transaction_finishes").map {
                try $0.decode(Int64.self)
            }
        )
        issuedEvents = try eventCounts(of: .receiptIssued, on: connection)
    }

    func check(_ report: inout AuditReport, paid: Set<Int64>) {
        report.count("receipts", receipts.count)
        for id in paid.subtracting(receipts) {
            report.add(.lost, id, "paid, and has no receipt")
        }
        for id in receipts.subtracting(paid) {
            report.add(.wrong, id, "has a receipt, and is not paid")
        }
        for id in receipts {
            let events = issuedEvents["\(id)"] ?? 0
            if events == 0 { report.add(.lost, id, "has a receipt, and nobody was told") }
            if events > 1 { report.add(.doubled, id, "its receipt was told \(events) times") }
        }
    }

    func checkFinishes(_ report: inout AuditReport, _ finished: Set<Int64>) {
        for id in finished.subtracting(finishes) {
            report.add(.lost, id, "finished in fulfillment, and not in receipts")
        }
    }
}
