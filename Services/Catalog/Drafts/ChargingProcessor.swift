/// The payment processor of the store, which decides what prices it can charge.
enum ChargingProcessor: String, CaseIterable, Sendable {
    /// The sandbox's own, which charges any price.
    case sandbox
    case stripe
}
