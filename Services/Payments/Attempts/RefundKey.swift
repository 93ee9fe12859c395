/// The idempotency key of the request that asked for a refund.
///
/// It is stored with the refund's attempt, so that a repeated request finds it.
struct RefundKey: Hashable, Sendable {
    let idempotencyKey: String
    /// Tells apart different requests under one key.
    let fingerprint: [UInt8]
}
