import EventTypes

/// A higher price that the catalog has scheduled for those who have subscribed already, or its end.
struct PriceEnrolment: Hashable, Sendable {
    /// The place of an enrolment: there is one for each product and storefront.
    struct Key: Hashable, Sendable {
        let productID: ProductID
        let storefront: Storefront
    }

    let key: Key
    let price: Money
    /// The time from which on renewals cost the price.
    let effectiveAt: StoreTime
    /// Whether the catalog has taken it back.
    let isWithdrawn: Bool
    /// The last subscription that was looked at; 0 before the first.
    var reachedID: TransactionID
    /// The number of those before it that could not be told.
    var leftCount: Int

    /// Whether nobody has worked at it or changed it since it was read.
    func goesOn(from earlier: Self) -> Bool {
        var same = self
        same.leftCount = earlier.leftCount
        return same == earlier
    }
}
