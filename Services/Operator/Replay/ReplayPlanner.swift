import EventArchive
import EventTypes
import Messaging
import Seals

/// Counts the events that a replay would send.
struct ReplayPlanner: Sendable {
    let selection: ReplaySelection
    let consumer: String?
    let archives: ReplayArchives
    let databases: @Sendable (String) -> DatabaseAddress

    /// The number of event ids that are collected before a consumer's inbox is asked about them.
    private static let idsMax = 5000

    /// Reads everything that is selected, once.
    ///
    /// - Returns: The plan, and the end of each log: later events are not replayed.
    /// - Throws: ``OperatorError``.
    func plan(_ source: ReplaySource) async throws -> (ReplayOutline, ends: [String: String]) {
        var plan = ReplayOutline()
        var waiting: [String: [EventID]] = [:]
        var ends: [String: String] = [:]
        switch source {
        case .logs:
            for service in selection.services {
                let end = try await ReplayReader.read(
                    databases(service),
                    after: selection.start,
                    through: selection.end,
                    archives: archives
                ) { rows in
                    for row in rows where selection.contains(row) {
                        take(row.event, &plan, &waiting)
                    }
                    try await ask(&waiting, &plan, atLeast: Self.idsMax)
                }
                ends[service] = end.description
            }
        case .file(let file):
            let cursor = try file.open()
            var rows = try cursor.next()
            while !rows.isEmpty {
                for (_, row) in rows where selection.contains(row.row) {
                    take(row.row.event, &plan, &waiting)
                }
                try await ask(&waiting, &plan, atLeast: Self.idsMax)
                rows = try cursor.next()
            }
        }
        try await ask(&waiting, &plan, atLeast: 1)
        return (plan, ends)
    }

    private func take(
        _ event: OutboxEvent,
        _ plan: inout ReplayOutline,
        _ waiting: inout [String: [EventID]]
    ) {
        plan.add(event)
        guard let topic = Topics.all.first(where: { $0.name == event.topic }) else { return }
        for reader in topic.consumers
        where (consumer ?? reader) == reader
            && ServiceName(rawValue: reader).map(Topics.eventTypes)?.contains(event.type) == true
        {
            waiting[reader, default: []].append(event.id)
        }
    }

    private func ask(
        _ waiting: inout [String: [EventID]],
        _ plan: inout ReplayOutline,
        atLeast count: Int
    ) async throws {
        for (reader, ids) in waiting where ids.count >= count {
            let owed = try await ReplayReader.owed(ids, by: reader, at: databases(reader))
            plan.add(owed: owed, to: reader)
            waiting[reader] = []
        }
    }
}
