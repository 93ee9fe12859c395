/// `subscription.changed.v1`: a subscription changed (rule S7 of docs/subscriptions.md).
///
/// Receipts, statuses, entitlements and notifications follow from this event alone.
public struct SubscriptionChanged: Event, Hashable {
    /// The whole subscription at its new version.
    public var subscription: Subscription
    /// The cause of the change.
    public var cause: SubscriptionCause
    /// The time of the change.
    ///
    /// The dates of the subscription may be earlier, as after an outage of the store.
    public var changedAt: StoreTime
    /// The transaction that was made with the change; `nil` if no period began.
    public var transactionID: TransactionID?
    /// The ledger posting of that transaction; `nil` if no money moved.
    public var posting: PostingReference?
    /// Older periods that changed, whose transactions are signed again; `nil` if there are none.
    public var changedPeriods: [PaidPeriod]?
    /// The transaction that was refunded, or whose refund was reversed; `nil` for all other causes.
    public var refundedTransactionID: TransactionID?
    /// The environment of the store: `Sandbox` or `Production`.
    public var environment: String
    /// The act that led to the change; `nil` if no administrator decided, and in older events.
    public var act: Act?

    /// Makes the event.
    public init(
        subscription: Subscription,
        cause: SubscriptionCause,
        changedAt: StoreTime,
        transactionID: TransactionID? = nil,
        posting: PostingReference? = nil,
        changedPeriods: [PaidPeriod]? = nil,
        refundedTransactionID: TransactionID? = nil,
        environment: String,
        act: Act? = nil
    ) {
        self.subscription = subscription
        self.cause = cause
        self.changedAt = changedAt
        self.transactionID = transactionID
        self.posting = posting
        self.changedPeriods = changedPeriods
        self.refundedTransactionID = refundedTransactionID
        self.environment = environment
        self.act = act
    }
}

/// `queue.subscription-changed.v1`: a subscription changed and no transaction says so, published as a
/// change of its account's queue.
///
/// It was cancelled, it lapsed, or a grace period began or ended. Clients receive exactly these bytes
/// on the queue's stream. The event has a revision of the queue, so a stream that resumes does not miss
/// it.
public struct QueueSubscriptionChanged: Event, Hashable {
    /// The number of changes to this account's queue.
    ///
    /// It is the `id` of the server-sent event.
    public var revision: Int64
    /// The whole subscription.
    public var subscription: Subscription
    /// Makes the event.
    public init(revision: Int64, subscription: Subscription) {
        self.revision = revision
        self.subscription = subscription
    }
}

// Subscription events are encoded and decoded without Foundation's coders, with the same bytes.

extension SubscriptionChanged {
    /// The data of the event.
    public func json() -> [UInt8]? { json(subscription: nil) }

    /// Encodes the event.
    ///
    /// - Parameter document: The JSON of the subscription, if it is encoded already; `nil` to encode it.
    /// - Returns: JSON.
    package func json(subscription document: [UInt8]?) -> [UInt8] {
        var text = PlainJSONText(capacity: 2048)
        text.object { text in
            if let act { text.member("act", object: act.write) }
            text.member("cause", cause.rawValue)
            text.member("changedAt", changedAt)
            if let changedPeriods {
                text.member("changedPeriods", objects: changedPeriods) { $1.write(to: &$0) }
            }
            text.member("environment", environment)
            if let posting { text.member("posting", object: posting.write) }
            text.member("refundedTransactionID", refundedTransactionID?.rawValue)
            if let document {
                text.member("subscription", json: document)
            } else {
                text.member("subscription", object: subscription.write)
            }
            text.member("transactionID", transactionID?.rawValue)
        }
        return text.bytes
    }

    /// Reads the data of an event.
    public init?(json data: [UInt8]) {
        var subscription: Subscription?
        var cause: String?
        var changedAt: Int64?
        var (transactionID, refundedTransactionID) = (TransactionID?.none, TransactionID?.none)
        var posting: PostingReference?
        var changedPeriods: [PaidPeriod]?
        var environment: String?
        var act: Act?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "subscription":
                    return PlainJSON.keep(Subscription(from: &json), in: &subscription)
                case "cause": return PlainJSON.keep(json.string(), in: &cause)
                case "changedAt": return PlainJSON.keep(json.integer(), in: &changedAt)
                case "transactionID":
                    return json.null() || PlainJSON.keep(json.identifier(), in: &transactionID)
                case "posting":
                    return json.null()
                        || PlainJSON.keep(PostingReference(from: &json), in: &posting)
                case "changedPeriods":
                    return json.null()
                        || PlainJSON.keep(Self.periods(from: &json), in: &changedPeriods)
                case "refundedTransactionID":
                    return json.null()
                        || PlainJSON.keep(json.identifier(), in: &refundedTransactionID)
                case "environment": return PlainJSON.keep(json.string(), in: &environment)
                case "act": return json.null() || PlainJSON.keep(Act(from: &json), in: &act)
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let subscription, let cause, let changedAt, let environment else {
            return nil
        }
        self.init(
            subscription: subscription,
            cause: SubscriptionCause(rawValue: cause),
            changedAt: StoreTime(millisecondsSinceEpoch: changedAt),
            transactionID: transactionID,
            posting: posting,
            changedPeriods: changedPeriods,
            refundedTransactionID: refundedTransactionID,
            environment: environment,
            act: act
        )
    }

    private static func periods(from json: inout PlainJSON) -> [PaidPeriod]? {
        var periods: [PaidPeriod] = []
        let isRead = json.array { json in
            guard let period = PaidPeriod(from: &json) else { return false }
            periods.append(period)
            return true
        }
        return isRead ? periods : nil
    }
}

extension QueueSubscriptionChanged {
    /// The data of the event.
    public func json() -> [UInt8]? {
        var text = PlainJSONText(capacity: 2048)
        text.object { text in
            text.member("revision", revision)
            text.member("subscription", object: subscription.write)
        }
        return text.bytes
    }
}
