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
    /// - Parameters:
    ///   - edits: The edits, all of which are made, or none.
    ///   - precondition: A condition on the version of the whole catalog.
    ///   - administrator: The administrator's name, for the history.
    ///   - trace: The trace of the request.
    /// - Returns: The decisions, or the catalog's version if the precondition does not hold.
    /// - Throws: ``CatalogError``, or errors of the database.
    func apply(
        _ edits: [ProductRules.Edit],
        if precondition: ProductRules.Precondition = .none,
        by administrator: String,
        trace: TraceContext
    ) async throws -> CatalogReply {
        try checkLoaded()
        let time = now()
        let reply = try await client.withTransaction { connection -> CatalogReply in
            try CatalogStore.lockWriters(on: connection)
            if precondition != .none {
                let version = try CatalogStore.version(on: connection)
                guard precondition.holds(at: version) else { return .isAtOtherVersion(version) }
            }
            return .decided(
                try Self.decide(edits, by: administrator, trace, at: time, on: connection)
            )
        }
        guard case .decided(let decisions) = reply else { return reply }
        let written = ProductRules.written(by: decisions)
        if !written.isEmpty {
            // The next answer of this process shows the change, even before the notification
            // arrives.
            priceList.merge(written)
            didAppend()
        }
        return reply
    }

    /// Reads one product, on sale or not.
    func product(_ id: ProductID) async throws -> Product? {
        try checkLoaded()
        return try await client.withConnection { connection in
            try CatalogStore.products([id], on: connection).first
        }
    }

    /// Reads the whole catalog as a document, with its version.
    func document() async throws -> (document: CatalogDocument, version: Int) {
        try checkLoaded()
        let products = try await client.withConnection { connection in
            try CatalogStore.allProducts(on: connection)
        }
        let document = CatalogDocument(
            products: Dictionary(
                products.map { ($0.id, ProductRules.draft(of: $0)) },
                uniquingKeysWith: { first, _ in first }
            )
        )
        return (document, ProductRules.version(of: products))
    }

    /// Decides the edits and writes what they change; the writers' lock is held.
    private static func decide(
        _ edits: [ProductRules.Edit],
        by administrator: String,
        _ trace: TraceContext,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [ProductRules.Decision] {
        let stored = try CatalogStore.products(edits.map(\.id), on: connection)
        let current = Dictionary(
            stored.map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let decisions = edits.map { ProductRules.decide($0, current: current[$0.id]) }
        let written = ProductRules.written(by: decisions)
        guard !written.isEmpty else { return decisions }
        try CatalogStore.write(written, by: administrator, at: time, on: connection)
        let events = try written.map { product in
            try OutboxEvent(
                ProductChanged(product: product, changedBy: administrator),
                type: .productChanged,
                topic: Topics.catalogProducts,
                key: product.id.rawValue,
                subject: product.id.rawValue,
                time: time,
                traceparent: trace
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
