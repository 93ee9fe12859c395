/// A keyed request for a refund that made no attempt of its own.
struct EarlierRefundRequest: Hashable, Sendable {
    let key: UsedKey
    /// The number of the refund that was owed already; `nil` if the request was done at once.
    let owed: Int?
}
