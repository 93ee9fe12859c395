import EventTypes
import Synchronization

/// The price list that products requests are answered from: in memory, so that a request needs no
/// round trip to the database.
///
/// Changed by this process's own writes at once, and by ``PriceListFollower`` with everybody's.
final class CurrentPriceList: Sendable {
    private struct State {
        var list = PriceList()
        var isLoaded = false
    }

    private let state = Mutex(State())

    /// Whether all products have been read once.
    var isLoaded: Bool { state.withLock { $0.isLoaded } }

    /// The list as it is.
    ///
    /// - Throws: ``CatalogError/Code/notLoaded`` before all products have been read once; an empty
    ///   list would tell buyers that nothing exists.
    func current() throws(CatalogError) -> PriceList {
        let list = state.withLock { $0.isLoaded ? $0.list : nil }
        guard let list else {
            throw CatalogError(.notLoaded, "The products are not read from the database yet.")
        }
        return list
    }

    /// Takes products that may be newer than what is there.
    func merge(_ products: [Product]) {
        state.withLock { $0.list.merge(products) }
    }

    /// Takes all products there are.
    func load(_ products: [Product]) {
        state.withLock {
            $0.list.merge(products)
            $0.isLoaded = true
        }
    }

    /// Those of some changes that are not in the list yet.
    func missing(of versions: [ProductID: Int]) -> [ProductID] {
        state.withLock { state in
            versions.filter { (state.list.products[$0.key]?.version ?? 0) < $0.value }.map(\.key)
        }
    }
}
