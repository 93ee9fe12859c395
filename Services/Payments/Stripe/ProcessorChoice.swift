/// The payment processor that a store uses.
enum ProcessorChoice: String, CaseIterable, Sendable {
    /// The sandbox's own. A production store refuses every payment with it.
    case sandbox
    case stripe
}
