public import EventTypes
public import StoreAPI

extension SampleCatalog {
    /// A subscription of a month for 1.49 USD, below ``club``.
    public static let basicClub = ProductID(unchecked: "com.example.club.basic")
    /// A subscription of a week for 0.79 USD, below ``club``.
    public static let weeklyClub = ProductID(unchecked: "com.example.club.weekly")
    /// A subscription of a year for 19.99 USD, beside ``club``.
    public static let yearlyClub = ProductID(unchecked: "com.example.club.yearly")

    /// The subscriptions of the group `club`.
    public static let clubs = [club, gold, basicClub, weeklyClub, yearlyClub]

    /// Returns a subscription of the group `club`, without its other prices and languages.
    ///
    /// - Parameter product: One of ``clubs``.
    /// - Returns: The product.
    public static func subscription(_ product: ProductID = club) -> ProductDraft {
        let (title, level, period) =
            switch product {
            case basicClub: ("Club, basic", 3, SubscriptionPeriod(1, .month))
            case weeklyClub: ("Club, weekly", 3, SubscriptionPeriod(1, .week))
            case yearlyClub: ("Club, yearly", 2, SubscriptionPeriod(1, .year))
            case gold: ("Club, gold", 1, SubscriptionPeriod(1, .month))
            default: ("Club, monthly", 2, SubscriptionPeriod(1, .month))
            }
        return ProductDraft(
            type: .autoRenewableSubscription,
            prices: [usa: price(of: product)],
            localizations: [
                LanguageTag(unchecked: "en"): ProductText(
                    title: title,
                    description: "New levels every month."
                )
            ],
            deliveryPlan: [.entitlement],
            subscription: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "club"),
                level: level,
                period: period
            )
        )
    }
}
