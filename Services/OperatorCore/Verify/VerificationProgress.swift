package import Rebuild

/// The progress of a service's rebuild.
package struct VerificationProgress: Hashable, Sendable {
    package let service: String
    private var applied = 0
    private var total = 0
    private var table: String?
    private var rows = 0
    private var isDone = false

    package init(service: String) { self.service = service }

    package mutating func take(_ line: RebuildLine) {
        switch line {
        case .applied(let events, let total): (applied, self.total) = (events, total)
        case .comparing(let table, let rows): (self.table, self.rows) = (table, rows)
        case .done: isDone = true
        case .contradiction, .difference, .table: break
        }
    }

    /// The progress as a number from 0 to 100; applying the events takes most of the time.
    package var percent: Int {
        if isDone { return 100 }
        if table != nil { return 90 }
        return total > 0 ? min(applied, total) * 80 / total : 0
    }

    /// The progress in a few words: `payments 40,000 of 120,000 events`, `payments transactions
    /// 5,000 rows`.
    package var text: String {
        if isDone { return "\(service) done" }
        if let table { return "\(service) \(table) \(rows.grouped) rows" }
        guard total > 0 else { return "\(service) begins" }
        return "\(service) \(applied.grouped) of \(total.grouped) events"
    }
}
