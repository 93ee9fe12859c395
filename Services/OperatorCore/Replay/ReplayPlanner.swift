import EventArchive
import EventTypes
import Messaging
import Seals

/// Counts the events that a replay would send.
package struct ReplayPlanner: Sendable {
    package let selection: ReplaySelection
    package let consumer: String?
    package let archives: ReplayArchives
    package let databases: @Sendable (String) -> DatabaseAddress

    package init(
        selection: ReplaySelection,
        consumer: String?,
        archives: ReplayArchives,
        databases: @escaping @Sendable (String) -> DatabaseAddress
    ) {
        self.selection = selection
        self.consumer = consumer
        self.archives = archives
        self.databases = databases
    }

    /// The number of events that are collected before a consumer's places are compared with them.
    private static let eventsMax = 5000

    /// Reads everything that is selected, once.
    ///
    /// - Returns: The plan, and the end of each log: later events are not replayed.
    /// - Throws: ``OperatorError``.
    package func plan(
        _ source: ReplaySource
    ) async throws -> (ReplayOutline, ends: [String: String]) {
        var plan = ReplayOutline()
        var waiting: [String: [AppliedEvents.Entry]] = [:]
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
                        take(row, &plan, &waiting)
                    }
                    try await ask(&waiting, &plan, atLeast: Self.eventsMax)
                }
                ends[service] = end.description
            }
        case .file(let file):
            let cursor = try file.open()
            var rows = try cursor.next()
            while !rows.isEmpty {
                for (_, row) in rows where selection.contains(row.row) {
                    take(row.row, &plan, &waiting)
                }
                try await ask(&waiting, &plan, atLeast: Self.eventsMax)
                rows = try cursor.next()
            }
        }
        try await ask(&waiting, &plan, atLeast: 1)
        return (plan, ends)
    }

    /// Refuses logs that do not match their seals, because missing events would go unnoticed.
    package func requireSealedLogs() async throws {
        for service in selection.services {
            let report = try await SealReader.check(
                databases(service),
                expecting: [],
                eventsOnly: true,
                archives: archives.directory
            )
            guard let first = report.findings.first else { continue }
            throw OperatorError(
                .failed,
                """
                The log of \(service) is not as it was sealed: \(first)
                See 'counterfoil verify' for all findings; --unverified replays the log as it is.
                """
            )
        }
    }

    private func take(
        _ row: OutboxRow,
        _ plan: inout ReplayOutline,
        _ waiting: inout [String: [AppliedEvents.Entry]]
    ) {
        let event = row.event
        plan.add(event)
        guard let topic = Topics.all.first(where: { $0.name == event.topic }) else { return }
        for reader in topic.consumers
        where (consumer ?? reader.rawValue) == reader.rawValue
            && Topics.eventTypes(actedOnBy: reader).contains(event.type)
        {
            waiting[reader.rawValue, default: []].append(AppliedEvents.Entry(row))
        }
    }

    private func ask(
        _ waiting: inout [String: [AppliedEvents.Entry]],
        _ plan: inout ReplayOutline,
        atLeast count: Int
    ) async throws {
        for (reader, events) in waiting where events.count >= count {
            let unapplied = try await ReplayReader.unapplied(
                events,
                by: reader,
                at: databases(reader)
            )
            plan.add(unapplied: unapplied, to: reader)
            waiting[reader] = []
        }
    }
}
