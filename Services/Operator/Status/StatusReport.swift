import EventTypes

/// The state of the store, service by service.
struct StatusReport: Encodable, Hashable, Sendable {
    /// One service.
    struct Entry: Encodable, Hashable, Sendable {
        let service: StoreOptions.Service
        let url: String
        /// `ready`, `not ready` or `away`.
        var health: String
        /// The dependencies that the service waits for, or the reason why it is away.
        var detail: String?
        var version: String?
        var database: DatabaseStatus?
        /// The reason why the database could not be read.
        var databaseProblem: String?
    }

    var services: [Entry]

    /// Whether every service is ready and every database answers.
    var isWell: Bool {
        services.allSatisfy { $0.health == "ready" && $0.databaseProblem == nil }
    }

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

    /// The problems, one sentence each, with what to do about them.
    var complaints: [String] {
        services.flatMap { entry -> [String] in
            var lines: [String] = []
            switch entry.health {
            case "ready": break
            case "away": lines.append(entry.detail ?? "\(entry.service.rawValue) is away.")
            default:
                lines.append(
                    "\(entry.service.rawValue) is \(entry.health): \(entry.detail ?? "no reason given")"
                )
            }
            if let problem = entry.databaseProblem { lines.append(problem) }
            if let dead = entry.database?.dead, dead > 0 {
                lines.append(
                    """
                    \(entry.service.rawValue) could not apply \(dead) \(dead == 1 ? "event" : "events"): \
                    see 'counterfoil dead-letters list'.
                    """
                )
            }
            return lines
        }
    }
}
