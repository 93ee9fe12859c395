/// A keyed request for a refund that made no attempt of its own.
struct EarlierRefundRequest: Hashable, Sendable {
    let key: UsedKey
    /// The number of the refund that was already accepted and not confirmed; `nil` if there was
    /// none and the request was done at once.
    let pending: Int?
}
