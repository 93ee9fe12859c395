/// What a payment request came to.
enum PaymentReply: Sendable {
    /// It was accepted: the answer, as JSON, and whether it had been accepted before.
    case accepted(body: [UInt8], isReplay: Bool)
    /// It was refused and had no effect.
    case refused(PaymentRefusal)
}
