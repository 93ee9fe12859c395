import Callbacks
import EventTypes

/// A signed notification, to be stored.
struct SignedNotification: Hashable, Sendable {
    let id: EventID
    let kind: NotificationKind
    let bundleID: BundleID
    let transactionID: TransactionID?
    /// The number of the refund; 0 for a notification that a transaction causes only once.
    let occurrence: Int32
    /// Whether it was requested.
    ///
    /// If so, one transaction may have any number of its kind.
    let isAskedFor: Bool
    let signedAt: StoreTime
    /// The bytes that were signed.
    let payload: [UInt8]
    /// The signature: r and s, 32 bytes each.
    let signature: [UInt8]
}

/// A notification that a sender has leased, for one try.
struct OutgoingNotification: Callback, Hashable {
    let id: EventID
    /// The number of this try, from 1.
    let attempt: Int
    let url: String
    let host: String
    /// The stored notification to send.
    let content: StoredNotification
}

/// A notification as it is stored, with the leaf that signed it.
struct StoredNotification: Hashable, Sendable {
    let leafSHA256: [UInt8]
    let header: String
    /// The payload as ``NotificationText/stored(_:header:)`` shortens it.
    let payload: [UInt8]
    let signature: [UInt8]
}

/// The outcome of a try of a notification.
struct NotificationAttempt: Hashable, Sendable {
    let id: EventID
    let attempt: Int
    let time: StoreTime
    let result: CallbackResult
    /// The time of the next try, or `nil` if there is none.
    let nextAttemptAt: MachineTime?
}

/// A notification with its tries, as in the history.
struct NotificationRecord: Hashable, Sendable {
    /// A try that was made.
    struct Attempt: Hashable, Sendable {
        let time: StoreTime
        let result: CallbackResult
    }

    let content: StoredNotification
    let attempts: [Attempt]
}

/// The endpoint of a merchant's server.
struct NotificationEndpoint: Hashable, Sendable {
    let bundleID: BundleID
    let url: String
}
