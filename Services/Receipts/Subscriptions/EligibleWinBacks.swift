import EventTypes
import Subscriptions

/// The win-back offers that accounts whose subscriptions have ended may have (rule S60 of
/// docs/subscriptions.md).
///
/// They change with the time and with the catalog, so they are looked up whenever renewal info is signed.
struct EligibleWinBacks: Sendable {
    /// The products of the subscriptions that have ended, with their newest offers.
    private let products: [ProductID: Product]

    /// The offers of products; of none by default.
    init(of products: [ProductID: Product] = [:]) { self.products = products }

    /// Returns the ids of the offers that an account may have at a time, the best first; `nil` if there
    /// are none.
    func ids(for subscription: Subscription, at time: StoreTime) -> [OfferID]? {
        guard let product = products[subscription.product.id] else { return nil }
        let offers = WinBackRules.offers(
            of: product.inForce(at: time),
            to: subscription,
            in: subscription.storefront,
            at: time
        )
        return offers.isEmpty ? nil : offers.compactMap(\.id)
    }
}
