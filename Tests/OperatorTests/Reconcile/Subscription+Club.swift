import EventTypes

extension Subscription {
    /// A subscription of ada to a club for 2.99 USD, in its first period.
    static func club(
        _ id: TransactionID,
        from start: StoreTime,
        to end: StoreTime
    ) -> Subscription {
        let product = SubscriptionProduct(
            id: ProductID(unchecked: "club"),
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: SubscriptionPeriod(1, .month)
            ),
            price: Money(minorUnits: 299, currency: Currency(unchecked: "USD"))
        )
        return Subscription(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            storefront: Storefront(unchecked: "USA"),
            firstPeriod: PaidPeriod(
                transactionID: id,
                reason: .purchase,
                product: product,
                price: product.price,
                anchor: start,
                number: 1,
                start: start,
                end: end
            )
        )
    }
}
