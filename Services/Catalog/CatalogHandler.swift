import EventTypes
import Messaging
import Postgres
import StoreAPI
import StoreTracing

/// Reads and changes products.
///
/// A change is one database transaction. It reads the current products, lets ``ProductRules``
/// decide, and writes the new versions, their history and their events.
///
/// If one edit of a call is refused, none is made.
struct CatalogHandler: Sendable {
    let client: PostgresClient
    let priceList: CurrentPriceList
    let now: @Sendable () -> StoreTime
    /// Called after a commit that appended events.
    let didAppend: @Sendable () -> Void

    /// Makes an administrator's edits.
    ///
    /// - Returns: The decision on each edit, in their order. If one is refused, nothing is changed.
    func apply(
        _ edits: [ProductRules.Edit],
        by administrator: String,
        trace: TraceContext
    ) async throws -> [ProductRules.Decision] {
        try checkLoaded()
        let time = now()
        let decisions = try await client.withTransaction { connection in
            try Self.decide(edits, by: administrator, trace, at: time, on: connection)
        }
        let written = ProductRules.written(by: decisions)
        if !written.isEmpty {
            // The next answer of this process shows the change, even before the notification
            // arrives.
            priceList.merge(written)
            didAppend()
        }
        return decisions
    }

    /// Reads one product, on sale or not.
    func product(_ id: ProductID) async throws -> Product? {
        try checkLoaded()
        return try await client.withConnection { connection in
            try CatalogStore.products([id], on: connection).first
        }
    }

    /// Reads the whole catalog as a document.
    func document() async throws -> CatalogDocument {
        try checkLoaded()
        let products = try await client.withConnection { connection in
            try CatalogStore.allProducts(on: connection)
        }
        return CatalogDocument(
            products: Dictionary(
                products.map { ($0.id, ProductRules.draft(of: $0)) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    private static func decide(
        _ edits: [ProductRules.Edit],
        by administrator: String,
        _ trace: TraceContext,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [ProductRules.Decision] {
        try CatalogStore.lockWriters(on: connection)
        let stored = try CatalogStore.products(edits.map(\.id), on: connection)
        let current = Dictionary(
            stored.map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let decisions = edits.map { ProductRules.decide($0, current: current[$0.id]) }
        let written = ProductRules.written(by: decisions)
        guard !written.isEmpty else { return decisions }
        try CatalogStore.write(written, by: administrator, at: time, on: connection)
        let traceparent = trace.description
        let events = try written.map { product in
            try OutboxEvent(
                ProductChanged(product: product, changedBy: administrator),
                type: .productChanged,
                topic: Topics.catalogProducts,
                key: product.id.rawValue,
                subject: product.id.rawValue,
                time: time,
                traceparent: traceparent
            )
        }
        try Outbox.append(events, on: connection)
        return decisions
    }

    /// Asks clients to try again until all products have been read once: before that, the database
    /// may not be migrated.
    private func checkLoaded() throws(CatalogError) {
        guard priceList.isLoaded else {
            throw CatalogError(.notLoaded, "The database is not there or not migrated yet.")
        }
    }
}
