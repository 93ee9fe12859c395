import EventTypes
import Messaging
import Postgres
import StoreAPI
import StoreTracing

/// Reads and changes products, and the names of subscription groups.
///
/// A change is one database transaction. It reads what is current, lets ``ProductRules`` and
/// ``GroupRules`` decide, and writes the new versions, their history and their events.
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
    ///   - edits: The edits of products, all of which are made, or none.
    ///   - groups: The edits of subscription groups, which are made with them.
    ///   - precondition: A condition on the version of the whole catalog.
    ///   - administrator: The administrator's name, for the history.
    ///   - trace: The trace of the request.
    /// - Returns: The decisions, or the catalog's version if the precondition does not hold.
    /// - Throws: ``CatalogError``, or errors of the database.
    func apply(
        _ edits: [ProductRules.Edit],
        groups: [GroupRules.Edit] = [],
        if precondition: ProductRules.Precondition = .none,
        by administrator: String,
        trace: TraceContext
    ) async throws -> CatalogReply {
        try checkLoaded()
        let time = now()
        let reasons = Self.reasons(in: edits)
        let reply = try await client.withTransaction { connection -> CatalogReply in
            try CatalogStore.lockWriters(on: connection)
            if precondition != .none {
                let version = try CatalogStore.version(on: connection)
                guard precondition.holds(at: version) else { return .isAtOtherVersion(version) }
            }
            let decisions = CatalogDecisions(
                products: try Self.decide(edits, at: time, on: connection),
                groups: try Self.decide(groups, beside: edits, on: connection)
            )
            try Self.write(decisions, by: administrator, reasons, trace, at: time, on: connection)
            return .decided(decisions)
        }
        guard case .decided(let decisions) = reply else { return reply }
        let (products, groups) = (decisions.writtenProducts, decisions.writtenGroups)
        if !products.isEmpty || !groups.isEmpty {
            // The next answer of this process shows the change, even before the notification
            // arrives.
            priceList.merge(products, groups: groups)
            didAppend()
        }
        return reply
    }

    /// Reads one product, on sale or not.
    func product(_ id: ProductID) async throws -> Product? {
        try checkLoaded()
        return try await client.withConnection { connection in
            try CatalogStore.products([id], on: connection).first
        }?.inForce(at: now())
    }

    /// Reads the whole catalog as a document, with its version.
    func document() async throws -> (document: CatalogDocument, version: Int) {
        try checkLoaded()
        let time = now()
        // The version is that of what was read. If a change came in between, it is too low, and an
        // import with it is refused.
        let (products, groups) = try await client.withConnection { connection in
            (
                try CatalogStore.allProducts(on: connection),
                try GroupStore.allGroups(on: connection)
            )
        }
        let document = CatalogDocument(
            products: Dictionary(
                products.map { ($0.id, ProductRules.draft(of: $0.inForce(at: time))) },
                uniquingKeysWith: { first, _ in first }
            ),
            subscriptionGroups: groups.isEmpty
                ? nil
                : Dictionary(
                    groups.map { ($0.id, GroupRules.draft(of: $0)) },
                    uniquingKeysWith: { first, _ in first }
                )
        )
        return (document, ProductRules.version(of: products) + GroupRules.version(of: groups))
    }

    /// Decides the edits of products; the writers' lock is held.
    private static func decide(
        _ edits: [ProductRules.Edit],
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> [ProductRules.Decision] {
        let stored = try CatalogStore.products(edits.map(\.id), on: connection)
        let current = Dictionary(
            stored.map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        return edits.map { ProductRules.decide($0, current: current[$0.id], at: time) }
    }

    /// Decides the edits of groups, which may get their first products from the edits beside them.
    private static func decide(
        _ groups: [GroupRules.Edit],
        beside edits: [ProductRules.Edit],
        on connection: isolated PostgresConnection
    ) throws -> [GroupRules.Decision] {
        guard !groups.isEmpty else { return [] }
        let ids = groups.map(\.id)
        var withProducts = try GroupStore.groupsWithProducts(ids, on: connection)
        for case .put(let draft) in edits.map(\.wish) {
            if let terms = draft.subscription { withProducts.insert(terms.groupID) }
        }
        let current = Dictionary(
            try GroupStore.groups(ids, on: connection).map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        return groups.map {
            GroupRules.decide(
                $0,
                current: current[$0.id],
                hasProduct: withProducts.contains($0.id)
            )
        }
    }

    /// The reasons that edits give, by product.
    private static func reasons(in edits: [ProductRules.Edit]) -> [ProductID: ActReason] {
        var reasons: [ProductID: ActReason] = [:]
        for edit in edits {
            if case .put(let draft) = edit.wish { reasons[edit.id] = draft.reason }
        }
        return reasons
    }

    /// Writes what was decided, with its events; the writers' lock is held.
    private static func write(
        _ decisions: CatalogDecisions,
        by administrator: String,
        _ reasons: [ProductID: ActReason],
        _ trace: TraceContext,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        let (products, groups) = (decisions.writtenProducts, decisions.writtenGroups)
        if !products.isEmpty {
            try CatalogStore.write(products, by: administrator, at: time, on: connection)
        }
        if !groups.isEmpty {
            try GroupStore.write(groups, by: administrator, at: time, on: connection)
        }
        var events = try products.map { product in
            try OutboxEvent(
                ProductChanged(
                    product: product,
                    changedBy: administrator,
                    reason: reasons[product.id]
                ),
                type: .productChanged,
                topic: Topics.catalogProducts,
                key: product.id.rawValue,
                subject: product.id.rawValue,
                time: time,
                traceparent: trace
            )
        }
        events += try groups.map { group in
            try OutboxEvent(
                SubscriptionGroupChanged(group: group, changedBy: administrator),
                type: .subscriptionGroupChanged,
                topic: Topics.catalogProducts,
                key: SubscriptionGroupChanged.key(of: group.id),
                subject: group.id.rawValue,
                time: time,
                traceparent: trace
            )
        }
        if !events.isEmpty { try Outbox.append(events, on: connection) }
    }

    /// Asks clients to try again until all products have been read once: before that, the database
    /// may not be migrated.
    private func checkLoaded() throws(CatalogError) {
        guard priceList.isLoaded else {
            throw CatalogError(.notLoaded, "The database is not there or not migrated yet.")
        }
    }
}
