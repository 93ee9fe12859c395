extension Product {
    /// The product with the prices that count at a time.
    ///
    /// A change is announced with the version that schedules it, and no event follows when its time
    /// comes. So whoever reads prices says for when.
    public func inForce(at time: StoreTime) -> Product {
        guard !priceChanges.isEmpty else { return self }
        var product = self
        for (storefront, change) in priceChanges where change.from <= time {
            product.prices[storefront] = change.price
        }
        return product
    }
}
