import EventTypes

/// The idempotency key of a request, within the account that chose it.
struct RequestKey: Hashable, Sendable, Comparable {
    let accountID: AccountID
    let idempotencyKey: IdempotencyKey

    static func < (left: Self, right: Self) -> Bool {
        (left.accountID, left.idempotencyKey) < (right.accountID, right.idempotencyKey)
    }
}
