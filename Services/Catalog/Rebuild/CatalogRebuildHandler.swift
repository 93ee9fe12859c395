import EventTypes
import Messaging
import Postgres
import Rebuild

/// Rebuilds the catalog from its own log, which holds every version of every product and of the
/// names of every subscription group.
struct CatalogRebuildHandler: Rebuilder {
    let sources: [RebuildSource] = [
        .own(.catalog, [.productChanged, .subscriptionGroupChanged])
    ]

    var tables: [RebuiltTable] { CatalogTables.all }

    func apply(
        _ rows: [OutboxRow],
        on shadow: isolated PostgresConnection
    ) throws -> [LogContradiction] {
        var contradictions: [LogContradiction] = []
        var group: [Product] = []
        var author = ""
        var time = StoreTime(millisecondsSinceEpoch: 0)
        func write() throws {
            guard !group.isEmpty else { return }
            try CatalogStore.write(group, by: author, at: time, on: shadow)
            group = []
        }
        func apply(_ row: OutboxRow) throws {
            if row.event.type == .subscriptionGroupChanged {
                if let contradiction = try Self.applyGroup(row, on: shadow) {
                    contradictions.append(contradiction)
                }
                return
            }
            let event = try EventCoding.decode(ProductChanged.self, from: row.event.data)
            let product = event.product
            // Products that were changed together are written together.
            if row.event.time != time || event.changedBy ?? "" != author
                || group.contains(where: { $0.id == product.id })
            {
                try write()
            }
            let known = try CatalogStore.products([product.id], on: shadow).first?.version ?? 0
            guard product.version == known + 1 else {
                return contradictions.append(LogContradiction(row, "it follows version \(known)"))
            }
            (author, time) = (event.changedBy ?? "", row.event.time)
            group.append(product)
        }
        for row in rows {
            let unread = try LogContradiction.reading([row]) { _ in try apply(row) }
            contradictions += unread
        }
        try write()
        return contradictions
    }

    /// Writes the names of a group, unless they do not follow those that were written before.
    private static func applyGroup(
        _ row: OutboxRow,
        on shadow: isolated PostgresConnection
    ) throws -> LogContradiction? {
        let event = try EventCoding.decode(SubscriptionGroupChanged.self, from: row.event.data)
        let known = try GroupStore.groups([event.group.id], on: shadow).first?.version ?? 0
        guard event.group.version == known + 1 else {
            return LogContradiction(row, "it follows version \(known)")
        }
        try GroupStore.write([event.group], by: event.changedBy, at: row.event.time, on: shadow)
        return nil
    }
}
