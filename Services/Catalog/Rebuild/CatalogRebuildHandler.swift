import EventTypes
import Messaging
import Postgres
import Rebuild

/// Rebuilds the catalog from its own log, which holds every version of every product.
struct CatalogRebuildHandler: Rebuilder {
    let sources: [RebuildSource] = [.own(.catalog, [.productChanged])]

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
}
