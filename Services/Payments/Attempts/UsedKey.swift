import EventTypes

/// The idempotency key of a request, as it is stored with what the request made.
///
/// A repeated request finds the transaction or the refund that it made before.
struct UsedKey: Hashable, Sendable {
    let idempotencyKey: IdempotencyKey
    /// Tells apart different requests under one key.
    let fingerprint: [UInt8]
}
