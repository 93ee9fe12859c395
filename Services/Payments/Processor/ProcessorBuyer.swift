import EventTypes

/// The buyer to whom a saved payment method belongs.
struct ProcessorBuyer: Hashable, Sendable {
    /// The processor's own id of the buyer.
    let reference: String
    /// The app in which the buyer has saved the method.
    let app: BundleID
}
