import EventTypes

/// An advance of the store's clock that an administrator asked for.
struct ClockAdvance: Hashable, Sendable {
    /// The amount of an advance.
    enum Amount: Hashable, Sendable {
        case to(StoreTime)
        case by(Duration)
    }

    /// The idempotency key of the request; the same key is the same advance.
    let key: IdempotencyKey
    let amount: Amount
    let start: StoreTime
    let target: StoreTime
    /// The rate at which the clock runs on from the target; `nil` if it is frozen there.
    let rateAfter: ClockRate?
}
