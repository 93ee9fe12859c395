extension Product {
    /// Returns the product with the prices that are in force at a time.
    ///
    /// A change is announced with the version that schedules it, and no event follows when its time
    /// comes. So every reader of prices names a time.
    public func inForce(at time: StoreTime) -> Product {
        guard !priceChanges.isEmpty else { return self }
        var product = self
        for (storefront, change) in priceChanges where change.from <= time {
            product.prices[storefront] = change.price
        }
        return product
    }
}
