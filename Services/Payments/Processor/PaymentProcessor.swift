import EventTypes
import StoreAPI

/// The interface to a payment processor, which moves the money.
///
/// Every call carries an attempt's id. A processor carries out each id at most once, however often
/// it is called.
///
/// A call takes any number of requests and answers each as soon as its outcome is known, in any order.
/// It returns when it has answered all. Calls never throw: an unknown outcome is an answer, too. A
/// request without an answer counts as one of unknown outcome.
protocol PaymentProcessor: Sendable {
    /// The lane of a payment method; `nil` if there is no such method.
    ///
    /// Slow methods are called in separate batches, so that they do not delay prompt ones.
    func lane(of paymentMethod: PaymentMethod) -> ChargeLane?
    /// The reason why a payment method is refused; `nil` if it can be charged.
    func refusal(of paymentMethod: PaymentMethod) -> PaymentRefusal?
    /// Whether a payment with a method waits for somebody's approval before it is charged.
    func asksForApproval(_ paymentMethod: PaymentMethod) -> Bool
    /// Charges buyers.
    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async
    /// Inquires about attempts whose outcome is unknown.
    func inquire(_ attempts: [AttemptID], answer: @escaping Answer<InquiryOutcome>) async
    /// Refunds charges, in full or in part.
    ///
    /// The refunds of a charge that are not reversed never exceed it.
    func refund(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async
    /// Reverses refunds: gets their money back for the store.
    func reverse(_ calls: [UndoCall], answer: @escaping Answer<UndoOutcome>) async
}

/// Takes the outcome of an attempt.
typealias Answer<Outcome> = @Sendable (AttemptID, Outcome) -> Void

extension PaymentProcessor {
    func refusal(of paymentMethod: PaymentMethod) -> PaymentRefusal? {
        lane(of: paymentMethod) == nil ? .paymentMethodUnknown : nil
    }
}

/// A request to charge a buyer.
struct ChargeRequest: Hashable, Sendable {
    let attemptID: AttemptID
    let paymentMethod: PaymentMethod
    let amount: Money
    /// Whether the payment has been approved.
    let isApproved: Bool
    /// The number of the try to charge for a subscription's next period; `nil` for a payment of a
    /// buyer, who is present.
    var renewalTry: Int?
}

/// The outcome of a charge.
enum ChargeOutcome: Hashable, Sendable {
    /// The buyer was charged; `reference` is the processor's own id of the charge.
    case charged(reference: ProcessorReference)
    /// The buyer was not charged and will not be.
    case declined(FailureReason)
    /// The payment needs an approval first.
    case needsApproval
    /// The processor could not take the call; a later call may succeed.
    case unavailable
    /// The answer is lost: the buyer may have been charged.
    case unknown
}

/// The result of an inquiry.
enum InquiryOutcome: Hashable, Sendable {
    case charged(reference: ProcessorReference)
    case declined(FailureReason)
    case refunded(reference: ProcessorReference)
    case reversed(reference: ProcessorReference)
    /// The processor has never done anything under this id.
    case notFound
    /// The processor could not take the call; a later call may succeed.
    case unavailable
}

/// A call to refund a charge or a part of it, or to reverse a refund.
struct UndoCall: Hashable, Sendable {
    let attemptID: AttemptID
    /// The processor's own id of the charge or the refund; `nil` if it never gave one.
    let undoes: ProcessorReference?
    let amount: Money
}

/// The outcome of a refund or a reversal.
enum UndoOutcome: Hashable, Sendable {
    /// It is undone; `reference` is the processor's own id of the refund or the reversal.
    case undone(reference: ProcessorReference)
    /// The processor could not take the call; a later call may succeed.
    case unavailable
    /// The answer is lost: the money may have moved.
    case unknown
}
