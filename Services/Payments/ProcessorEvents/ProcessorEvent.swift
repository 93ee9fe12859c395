import EventTypes
import Stripe

/// An event of the processor that the store has to look at.
struct ProcessorEvent: Hashable, Sendable {
    /// The account at Stripe that tells it.
    let account: ProcessorAccountName
    let id: String
    let type: String
    /// The object that changed.
    let objectID: String
    /// The attempt that it belongs to; `nil` if it is none of an attempt.
    let attempt: ProcessorSubject?
    /// The processor's time of the change.
    let createdAt: MachineTime
    /// The number of looks at it so far.
    var tries = 0
}

extension ProcessorEvent {
    /// The kind of the event that a buyer has saved a payment method.
    private static let setupType = "setup_intent.succeeded"
    /// The beginning of the kinds of events about disputes, which carry no texts of the store's.
    private static let disputePrefix = "charge.dispute."
    /// The beginning of the kinds of events about saved payment methods.
    private static let methodPrefix = "payment_method."
    /// The kinds of events that can be about something of the store's.
    ///
    /// That a payment was created is no news: the call that creates it is still confirming it.
    static let types = [
        "payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled",
        "payment_intent.processing", "payment_intent.requires_action", "refund.updated",
        "refund.failed", "charge.refund.updated", setupType, "charge.dispute.created",
        "charge.dispute.updated", "charge.dispute.funds_withdrawn",
        "charge.dispute.funds_reinstated", "charge.dispute.closed",
        "payment_method.automatically_updated", "payment_method.updated",
        "payment_method.detached",
    ]

    /// Whether its object is a saved payment method.
    var isOfMethod: Bool { type.hasPrefix(Self.methodPrefix) }

    /// Whether its object is a dispute.
    var isOfDispute: Bool { type.hasPrefix(Self.disputePrefix) }

    /// Reads an event of an account at Stripe; `nil` if it is about nothing of the store's.
    init?(_ event: StripeEvent, of account: ProcessorAccountName) {
        guard Self.types.contains(event.type), let object = event.data.object.id else { return nil }
        let attempt = ProcessorSubject(event.data.object.metadata ?? [:])
        self.init(
            account: account,
            id: event.id,
            type: event.type,
            objectID: object,
            attempt: attempt,
            createdAt: MachineTime(millisecondsSinceEpoch: event.created * 1000)
        )
        guard attempt != nil || type == Self.setupType || isOfDispute || isOfMethod else {
            return nil
        }
    }

    /// Whether the processor has to be asked, given what is known of the attempt.
    ///
    /// Most events tell what the answer to the call has told before.
    func isNews(about attempt: ProcessorAttempt) -> Bool {
        switch (attempt.end, type) {
        case (.charged, "payment_intent.succeeded"):
            attempt.reference?.rawValue != objectID
        case (.charged, "payment_intent.processing"), (.charged, "payment_intent.requires_action"):
            false
        case (.refunded, "refund.updated"):
            attempt.reference?.rawValue != objectID
        case (.failed, "payment_intent.succeeded"): true
        case (.failed, _) where attempt.kind == .charge: false
        default: true
        }
    }
}
