/// The answer to a payment request.
enum PaymentReply: Sendable {
    /// The request was accepted: the answer as JSON, and whether it repeats an earlier request.
    case accepted(body: [UInt8], isReplay: Bool)
    /// The request was refused and had no effect.
    case refused(PaymentRefusal)
}
