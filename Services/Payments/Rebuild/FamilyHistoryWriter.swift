import EventTypes
import Messaging
import Postgres
import Rebuild

/// Writes the families that the log of `payments` reports.
enum FamilyHistoryWriter {
    /// Stores families, in the order of their events.
    ///
    /// A member may move from one family to another, so each event is stored before the next one.
    static func store(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var contradictions: [LogContradiction] = []
        for row in rows {
            var change: FamilyChanged?
            contradictions += try LogContradiction.reading([row]) { _ in
                change = try EventCoding.decode(FamilyChanged.self, from: row.event.data)
            }
            guard let family = change?.family else { continue }
            let version = try FamilyStore.load(family.id, on: shadow)?.version ?? 0
            if family.version != version + 1 {
                contradictions.append(LogContradiction(row, "it follows version \(version)"))
            }
            try FamilyStore.save(family, on: shadow)
        }
        return contradictions
    }
}
