import ClockAndIDs
import EventTypes

/// The port to the world that moves money.
///
/// Every call carries an attempt's id, and a processor does what an id asks for at most once,
/// however often it is asked.
///
/// Calls answer for each request, in order, and never throw: what is not known is an answer, too.
protocol PaymentProcessor: Sendable {
    /// How fast charges to a payment method are answered; `nil` if there is no such method.
    ///
    /// Slow ones are called in batches of their own, so that they hold up nobody else.
    func lane(of paymentMethod: String) -> ChargeLane?
    /// Why a payment by a method is refused; `nil` if it can be charged.
    func refusal(of paymentMethod: String) -> PaymentRefusal?
    /// Charges buyers.
    func charge(_ requests: [ChargeRequest]) async -> [ChargeOutcome]
    /// Asks what became of attempts whose outcome is not known.
    func inquire(_ attempts: [AttemptID]) async -> [InquiryOutcome]
    /// Gives charges back in full.
    func refund(_ requests: [RefundRequest]) async -> [RefundOutcome]
}

extension PaymentProcessor {
    func refusal(of paymentMethod: String) -> PaymentRefusal? {
        lane(of: paymentMethod) == nil ? .paymentMethodUnknown : nil
    }
}

/// One buyer to charge.
struct ChargeRequest: Hashable, Sendable {
    let attemptID: AttemptID
    let paymentMethod: String
    let amount: Money
    /// Whether somebody has approved it already.
    let isApproved: Bool
}

/// What a charge came to.
enum ChargeOutcome: Hashable, Sendable {
    /// The buyer was charged; the processor's own name for it.
    case charged(reference: String)
    /// The buyer was not charged and will not be.
    case declined(FailureReason)
    /// Somebody has to approve first.
    case needsApproval
    /// The processor could not take the call; it may later.
    case unavailable
    /// The answer is lost: the buyer may have been charged.
    case unknown
}

/// What an inquiry found.
enum InquiryOutcome: Hashable, Sendable {
    case charged(reference: String)
    case declined(FailureReason)
    case refunded(reference: String)
    /// The processor has never done anything under this id.
    case notFound
    /// The processor could not take the call; it may later.
    case unavailable
}

/// One charge to give back.
struct RefundRequest: Hashable, Sendable {
    let attemptID: AttemptID
    /// The processor's own name for the charge.
    let chargeReference: String
    let amount: Money
}

/// What a refund came to.
enum RefundOutcome: Hashable, Sendable {
    case refunded(reference: String)
    case unavailable
    case unknown
}
