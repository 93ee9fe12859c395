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
        var products: [(PublishedProduct, StoreTime)] = []
        var finished: [(id: TransactionID, at: StoreTime)] = []
        for event in events {
            switch event.type {
            case .productChanged:
                products.append((try PublishedProduct(of: event), event.time))
            case .transactionFinished:
                let change = try event.decode(TransactionFinished.self)
                finished.append((change.transaction.id, change.finishedAt ?? event.time))
            default:
                break
            }
        }
        let switched = try ProductStore.switchingFamilySharing(products.map(\.0), on: connection)
        if !switched.isEmpty { try FamilyWorkStore.noteAllMembers(on: connection) }
        let newest = try ProductStore.store(products.map(\.0), on: connection)
        let times = Dictionary(products.map { ($0.0.product, $0.1) }, uniquingKeysWith: min)
        try PriceEnrolmentStore.follow(
            newest.compactMap { product in times[product].map { (product, $0) } },
            on: connection
        )
        try TransactionStore.finish(finished, on: connection)
    }
}

/// The part of `QueueChanged` that is needed here; the rest is not decoded.
private struct TransactionFinished: Event {
    struct Subject: Codable {
        var id: TransactionID
    }

    var transaction: Subject
    var finishedAt: StoreTime?
}
