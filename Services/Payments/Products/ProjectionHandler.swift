import EventTypes
import Messaging
import Postgres

/// Applies the events of other services to `payments`.
///
/// These are the catalog's products, and the times at which transactions were finished; a finished
/// purchase can be restored (spec rule 61).
struct ProjectionHandler: EventHandler {
    let eventTypes = Topics.eventTypes(actedOnBy: .payments)

    func apply(_ events: [ReceivedEvent], on connection: isolated PostgresConnection) throws {
        var products: [(published: PublishedProduct, time: StoreTime)] = []
        var finished: [(id: TransactionID, at: StoreTime)] = []
        for event in events {
            switch event.type {
            case .productChanged:
                products.append((try PublishedProduct(of: event), event.time))
            case .transactionFinished:
                let change = try event.decode(TransactionFinished.self)
                // Of a consumable nothing can be restored, so its row is not even looked up.
                guard change.transaction.productType != .consumable else { continue }
                finished.append((change.transaction.id, change.finishedAt ?? event.time))
            default:
                break
            }
        }
        try Self.store(products, on: connection)
        try TransactionStore.finish(finished, on: connection)
    }

    /// Stores products, and notes what follows from their changes for families and for subscribers.
    ///
    /// - Parameters:
    ///   - products: The published products, each with the time of its change.
    ///   - connection: A connection in a database transaction.
    /// - Throws: `PostgresError`.
    static func store(
        _ products: [(published: PublishedProduct, time: StoreTime)],
        on connection: isolated PostgresConnection
    ) throws {
        let published = products.map(\.published)
        let switched = try ProductStore.switchingFamilySharing(published, on: connection)
        if !switched.isEmpty { try FamilyWorkStore.noteAllMembers(on: connection) }
        let newest = try ProductStore.store(published, on: connection)
        let times = Dictionary(
            products.map { ($0.published.product, $0.time) },
            uniquingKeysWith: min
        )
        try PriceEnrolmentStore.follow(
            newest.compactMap { product in times[product].map { (product, $0) } },
            on: connection
        )
    }
}

/// The part of `QueueChanged` that is needed here; the rest is not decoded.
private struct TransactionFinished: Event {
    struct Subject: Codable {
        var id: TransactionID
        var productType: ProductType
    }

    var transaction: Subject
    var finishedAt: StoreTime?
}

// Every purchase ends with this event, so it is read without Foundation's decoder.

extension TransactionFinished {
    init?(json data: [UInt8]) {
        var id: TransactionID?
        var productType: String?
        var finishedAt: Int64?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "transaction":
                    return json.object { json, name in
                        switch name {
                        case "id": return PlainJSON.keep(json.identifier(), in: &id)
                        case "productType":
                            return PlainJSON.keep(json.string(), in: &productType)
                        default: return json.skip()
                        }
                    }
                case "finishedAt":
                    return json.null() || PlainJSON.keep(json.integer(), in: &finishedAt)
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let id, let productType else { return nil }
        transaction = Subject(id: id, productType: ProductType(rawValue: productType))
        self.finishedAt = finishedAt.map(StoreTime.init(millisecondsSinceEpoch:))
    }
}
