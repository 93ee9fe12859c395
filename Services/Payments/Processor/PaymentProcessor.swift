import EventTypes
import StoreAPI

/// The interface to a payment processor, which moves the money.
///
/// Every call carries a ``CallKey``. A processor carries out each key at most once, however often it
/// is called.
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
    /// Whether a payment must name a method that its account has saved.
    var hasSavedMethods: Bool { get }
    /// The account at the processor where the buyers of an app save methods.
    func account(of app: BundleID) -> ProcessorAccountName
    /// The merchant's accounts at the processor, whose attempts do not wait for each other.
    var accountNames: [ProcessorAccountName] { get }
    /// Finds the accounts where methods were saved.
    ///
    /// It only sorts attempts: a method that is absent waits beside those of the first account, and is
    /// called for where it was saved all the same.
    func findHomes(of methods: [PaymentMethod]) async -> [PaymentMethod: ProcessorAccountName]
    /// Charges buyers.
    func charge(_ requests: [ChargeRequest], answer: @escaping Answer<ChargeOutcome>) async
    /// Inquires about attempts whose outcome is unknown.
    func inquire(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async
    /// Looks for attempts of the same periods that the books may have lost.
    ///
    /// A found one belongs to the transaction that searches from then on, and so do its refunds.
    func search(_ searches: [PeriodSearch], answer: @escaping Answer<PeriodFinding>) async
    /// Ends charges that are not made yet, so that they never will be.
    ///
    /// A charge that was made meanwhile is the answer.
    func cancel(_ inquiries: [Inquiry], answer: @escaping Answer<InquiryOutcome>) async
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
    var hasSavedMethods: Bool { false }

    func account(of app: BundleID) -> ProcessorAccountName { .default }

    var accountNames: [ProcessorAccountName] { [.default] }

    func findHomes(
        of methods: [PaymentMethod]
    ) async -> [PaymentMethod: ProcessorAccountName] { [:] }

    func refusal(of paymentMethod: PaymentMethod) -> PaymentRefusal? {
        lane(of: paymentMethod) == nil ? .paymentMethodUnknown : nil
    }
}

/// The idempotency key of a call.
struct CallKey: Hashable, Sendable, CustomStringConvertible {
    let attemptID: AttemptID
    let kind: AttemptKind
    /// The generation of the key, from 1.
    ///
    /// A processor may keep an error under a key for ever, so that no call under it can succeed. The
    /// next generation is used only after an inquiry whose result is final has found that nothing was
    /// done, or after a refund that the store owes has failed.
    var generation = 1

    var description: String { "\(attemptID)-\(kind.rawValue)-\(generation)" }

    /// The generation in the text of a key; `nil` if it has none.
    static func generation(in text: String) -> Int? {
        text.split(separator: "-").last.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }
}

/// A request to charge a buyer.
struct ChargeRequest: Hashable, Sendable {
    let key: CallKey
    let paymentMethod: PaymentMethod
    let amount: Money
    /// Whether the payment has been approved.
    let isApproved: Bool
    /// The number of the try to charge for a subscription's next period; `nil` for a purchase, whose
    /// buyer is present.
    var renewalTry: Int?
    /// The transaction, by which what the processor tells by itself is recognised.
    var transactionID: TransactionID?
    /// Whether an earlier call with the same key may still be carried out.
    var isRepeated = false
    /// Whether the buyer has asked for this charge of a subscription's next period.
    var isBuyerPresent = false

    var attemptID: AttemptID { key.attemptID }

    /// Whether nobody could act on a page of the bank.
    var isBuyerAway: Bool { renewalTry != nil && !isBuyerPresent }
}

/// A question about what was done under a key.
struct Inquiry: Hashable, Sendable {
    let key: CallKey
    /// The processor's own id, if it has named one.
    var reference: ProcessorReference?
    /// The processor's own id of what a refund or a reversal undoes; `nil` for a charge.
    var undoes: ProcessorReference?
    let paymentMethod: PaymentMethod
    /// The time before which the processor was not called; `nil` if it is unknown.
    var firstCalledAt: MachineTime?
    /// Whether the outcome was known before, so that only its failure can be news.
    var isOfSettled = false

    var attemptID: AttemptID { key.attemptID }
}

/// A call to refund a charge or a part of it, or to reverse a refund.
struct UndoCall: Hashable, Sendable {
    let key: CallKey
    /// The processor's own id of the charge or the refund; `nil` if it never gave one.
    let undoes: ProcessorReference?
    /// The method that was charged.
    let paymentMethod: PaymentMethod
    let amount: Money
    /// The transaction, by which what the processor tells by itself is recognised.
    var transactionID: TransactionID?

    var attemptID: AttemptID { key.attemptID }
}
