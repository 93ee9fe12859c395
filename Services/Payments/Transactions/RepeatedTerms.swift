import EventTypes

/// The terms of a paid period that the next one repeats.
struct RepeatedTerms: Hashable, Sendable {
    var applicationUsername: String?
    /// The version and the delivery plan, which count if the catalog no longer has the product.
    var productVersion: Int
    var deliveryPlan: [DeliveryTarget]
}
