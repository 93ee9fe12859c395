import Callbacks
import EventTypes

/// The outcome of a try of a webhook, as it is recorded.
struct WebhookOutcome: Hashable, Sendable {
    let webhook: Webhook
    let result: CallbackResult
    /// The time of a confirmation.
    let time: StoreTime
    /// The time of the next try, unless this one was the last.
    let nextAttemptAt: MachineTime

    /// Whether the merchant has confirmed the delivery; if not, it is tried again.
    var isConfirmed: Bool { result == .success }

    /// The confirmation of the delivery, if this outcome is one.
    var confirmation: DeliveryConfirmed? {
        guard isConfirmed else { return nil }
        return DeliveryConfirmed(
            transactionID: webhook.transactionID,
            target: webhook.target,
            attempts: webhook.attempt,
            confirmedAt: time
        )
    }
}
