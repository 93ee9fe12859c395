import EventTypes
import OperatorCore

extension StatusReport {
    /// The services, one per line.
    var table: [[Cell]] {
        let head = ["SERVICE", "HEALTH", "VERSION", "OUTBOX", "DEAD", "PARKED", "SCHEMA"]
        return [head.map { Cell($0, .dim) }] + services.map(Self.row)
    }

    private static func row(_ entry: Entry) -> [Cell] {
        let health = Cell(entry.health, entry.health == "ready" ? .green : .red)
        var row = [Cell(entry.service.rawValue, .bold), health, Cell(entry.version ?? "-")]
        guard let database = entry.database else {
            return row + ["-", "-", "-", Cell("database: see below", .red)]
        }
        let outbox = BoundedCount(database.outbox.count, isAtLeast: database.outbox.isAtLeast)
        row += [
            Cell("\(outbox)", database.outbox.count > 1_000 ? .yellow : .plain),
            Cell("\(database.dead)", database.dead > 0 ? .red : .plain),
            Cell("\(database.parked)", database.parked > 0 ? .yellow : .plain),
            Cell(database.schema, .dim),
        ]
        return row
    }

    /// The waiting work, one kind per line.
    func waiting(at now: StoreTime) -> [[Cell]] {
        let names = [
            ("charges", "charges under way"), ("unfinished", "unfinished by apps"),
            ("webhooks", "webhooks pending"), ("notifications", "notifications pending"),
        ]
        let work = services.compactMap(\.database?.work).reduce(into: [:]) { all, part in
            all.merge(part) { $1 }
        }
        return names.compactMap { key, name in
            guard let waiting = work[key] else { return nil }
            let count = BoundedCount(waiting.count, isAtLeast: waiting.isAtLeast)
            let age = waiting.oldest.map { "the oldest for \(Age(of: $0, at: now))" } ?? ""
            return [Cell(name, .dim), Cell("\(count)"), Cell(age)]
        }
    }
}
