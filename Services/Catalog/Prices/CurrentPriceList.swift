import EventTypes
import Synchronization

/// The price list in memory, from which products requests are answered without a database query.
///
/// Writes of this process change it at once; ``PriceListFollower`` adds the writes of all
/// processes.
final class CurrentPriceList: Sendable {
    private struct State {
        var list = PriceList()
        var isLoaded = false
    }

    private let state = Mutex(State())

    /// Whether all products have been read at least once.
    var isLoaded: Bool { state.withLock { $0.isLoaded } }

    /// Returns the present list.
    ///
    /// - Throws: ``CatalogError/Code/notLoaded`` until all products have been read once, because an
    ///   empty list would mean that no product exists.
    func current() throws(CatalogError) -> PriceList {
        let list = state.withLock { $0.isLoaded ? $0.list : nil }
        guard let list else {
            throw CatalogError(.notLoaded, "The products are not read from the database yet.")
        }
        return list
    }

    /// Merges products, and names of groups, that may be newer than those in the list.
    func merge(_ products: [Product], groups: [SubscriptionGroup] = []) {
        state.withLock {
            $0.list.merge(products)
            $0.list.merge(groups: groups)
        }
    }

    /// Merges all products and all names of groups, and marks the list as loaded.
    func load(_ products: [Product], groups: [SubscriptionGroup] = []) {
        state.withLock {
            $0.list.merge(products)
            $0.list.merge(groups: groups)
            $0.isLoaded = true
        }
    }

    /// The changed products whose new versions are not in the list yet.
    func missing(of versions: [ProductID: Int]) -> [ProductID] {
        state.withLock { state in
            versions.filter { (state.list.products[$0.key]?.version ?? 0) < $0.value }.map(\.key)
        }
    }
}
