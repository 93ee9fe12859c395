import Callbacks
import EventTypes

/// A notification that was signed, as it is stored.
struct SignedNotification: Hashable, Sendable {
    let id: EventID
    let kind: NotificationKind
    let bundleID: BundleID
    let transactionID: TransactionID?
    /// Whether somebody asked for it: then there may be any number of its kind for one transaction.
    let isAskedFor: Bool
    let signedAt: Timestamp
    /// The bytes that were signed.
    let payload: [UInt8]
    /// The signature: r and s, 32 bytes each.
    let signature: [UInt8]
}

/// A notification that a sender has taken on: one try of it.
struct OutgoingNotification: Callback, Hashable {
    let id: EventID
    /// Which try this is, from 1.
    let attempt: Int
    let url: String
    let host: String
    /// What is sent.
    let content: StoredNotification
}

/// A notification as it is stored: what was signed, and with which leaf.
struct StoredNotification: Hashable, Sendable {
    let leafSHA256: [UInt8]
    let header: String
    /// The payload as ``NotificationText/stored(_:header:)`` shortens it.
    let payload: [UInt8]
    let signature: [UInt8]
}

/// How a try of a notification ended.
struct NotificationAttempt: Hashable, Sendable {
    let id: EventID
    let attempt: Int
    let time: Timestamp
    let result: CallbackResult
    /// When the next try is due; `nil` if there is none.
    let nextAttemptAt: Timestamp?
}

/// A notification with the tries that were made, as the history has it.
struct NotificationRecord: Hashable, Sendable {
    /// A try that was made.
    struct Attempt: Hashable, Sendable {
        let time: Timestamp
        let result: CallbackResult
    }

    let content: StoredNotification
    let attempts: [Attempt]
}

/// Where an app's server wants to be told.
struct NotificationEndpoint: Hashable, Sendable {
    let bundleID: BundleID
    let url: String
}
