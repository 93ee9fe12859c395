import EventTypes
import Stripe

/// The state of a payment at Stripe, as far as it decides what to do.
///
/// Pure.
enum StripeReading: Hashable, Sendable {
    /// The buyer has paid an amount.
    case paid(Money)
    /// Stripe will know the outcome later.
    case processing
    /// The buyer has to act on a page.
    case asks(BuyerAction)
    /// It was not paid, and could still be confirmed: it must be given up.
    case open(StripeDecline?)
    /// It was given up, and cannot be paid any more.
    case canceled(StripeDecline?)
    /// It cannot be understood; a person has to look.
    case strange

    /// The time for which a payment without an error may still be confirmed by the call that made
    /// it.
    static let confirmationMax = Duration.seconds(120)

    /// Reads a payment.
    init(_ intent: StripePaymentIntent, at now: MachineTime) {
        let decline = intent.lastPaymentError.map(StripeDecline.init)
        switch intent.status {
        case .succeeded:
            do throws(ProcessorAmountError) {
                self = .paid(try intent.received.money())
            } catch {
                self = .strange
            }
        case .processing: self = .processing
        case .requiresAction:
            // Without a page nobody can act.
            self =
                intent.nextAction?.redirect?.url.map { .asks(BuyerAction(url: $0)) }
                ?? .open(StripeDecline(reason: .paymentDeclined, advice: .otherMethod))
        case .requiresPaymentMethod, .requiresConfirmation:
            let age = now.millisecondsSinceEpoch - intent.created * 1000
            self =
                decline == nil && age < Self.confirmationMax.milliseconds
                ? .processing : .open(decline)
        case .canceled: self = .canceled(decline)
        case .requiresCapture, .other: self = .strange
        }
    }
}

/// The reason of a decline, with the advice after it.
struct StripeDecline: Hashable, Sendable {
    let reason: FailureReason
    let advice: DeclineAdvice?
}

extension StripeDecline {
    /// Reads the error of a payment.
    init(_ error: StripeErrorBody) {
        (reason, advice) = error.decline
    }

    /// The outcome of an inquiry that finds it.
    var outcome: InquiryOutcome { .declined(reason, advice: advice) }
}
