import EventTypes

/// What `payments` and the processor know of a transaction.
struct PaymentsChapter: Sendable {
    struct Attempt: Sendable {
        let kind: String
        let step: String
        let paymentMethod: String
        let callCount: Int
        let dueAt: Timestamp?
        let waitsFor: Int64?
    }

    /// What the processor has on its own list.
    struct ProcessorEntry: Sendable {
        let isRefund: Bool
        let money: Money
        let declineReason: String?
        let time: Timestamp
    }

    struct Posting: Sendable {
        let kind: String
        let time: Timestamp
        let entries: [(account: String, amount: Money)]
    }

    let id: TransactionID
    let originalID: TransactionID
    let state: TransactionState
    let accountID: AccountID
    let bundleID: BundleID
    let productID: ProductID
    let quantity: Int
    let price: Money
    let storefront: Storefront
    let requestedAt: Timestamp
    let purchasedAt: Timestamp?
    let failureReason: String?
    let revokedAt: Timestamp?
    let finishedAt: Timestamp?
    var attempts: [Attempt] = []
    var processor: [ProcessorEntry] = []
    var postings: [Posting] = []
    /// The transaction that took this one up after an interruption.
    var resumedBy: (id: Int64, time: Timestamp)?
    /// The interrupted one that this one takes up.
    var resumes: Int64?
    var events: [ToldEvent] = []
}

/// What `receipts` knows of a transaction.
struct ReceiptsChapter: Sendable {
    struct Receipt: Sendable {
        let signedAt: Timestamp
        let revision: Int
        let chain: Int
        let isRevoked: Bool
    }

    struct Notification: Sendable {
        let type: String
        let state: String
        let signedAt: Timestamp
        let nextAttemptAt: Timestamp?
        var attempts: [(time: Timestamp, result: String)]
    }

    var receipt: Receipt?
    var finishedAt: Timestamp?
    var notifications: [Notification] = []
    var events: [ToldEvent] = []
}

/// What `fulfillment` knows of a transaction.
struct FulfillmentChapter: Sendable {
    struct Delivery: Sendable {
        let target: String
        let kind: String
        let host: String?
        let state: String
        let attempts: Int
        let lastAttemptAt: Timestamp?
        let lastResult: String?
        let nextAttemptAt: Timestamp?
        let deliveredAt: Timestamp?

        /// Whether it tells the merchant of a refund.
        var isRefund: Bool { target.hasSuffix(":refund") }
    }

    struct Credit: Sendable {
        let unit: String
        let kind: String
        let amount: Int64
        let time: Timestamp
    }

    /// Whether the queue has the transaction at all.
    var isQueued = false
    var isDelivered = false
    var finishedAt: Timestamp?
    var deliveries: [Delivery] = []
    var credits: [Credit] = []
    var events: [ToldEvent] = []
}

/// An event of a service's log.
struct ToldEvent: Sendable {
    let id: EventID
    let type: EventType
    let topic: String
    let time: Timestamp
    let traceID: String?
    /// Whether the broker has it.
    let isPublished: Bool
}

/// What a consumer did with events.
struct ConsumerMarks: Sendable {
    /// What is done.
    var done: Set<EventID> = []
    /// What could not be, or waits, or waits no more.
    var letters: [EventID: (id: Int64, state: String)] = [:]
    /// The first dead letter of the account, whatever it is about.
    var blocker: Int64?
}
