import Stripe

/// One of the merchant's accounts at Stripe, and the way of the store's calls to it.
struct StripeAccount: Sendable {
    let name: ProcessorAccountName
    /// Charges the cards that are saved there.
    let processor: StripeProcessor

    var client: StripeClient { processor.client }
    var gate: StripeGate { processor.gate }
}
