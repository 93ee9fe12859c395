/// `queue.changed.v1` and `transaction.finished.v1`: a transaction in an account's queue changed.
///
/// It entered the queue, changed its state, was delivered, or was finished. Clients receive exactly
/// these bytes on the queue's stream.
public struct QueueChanged: Event, Hashable {
    /// The number of changes to this account's queue, from 1 and without a gap.
    ///
    /// It is the `id` of the server-sent event.
    public var revision: Int64
    /// The transaction.
    public var transaction: Transaction
    /// Whether all deliveries by the store are confirmed, so that the transaction can be finished.
    public var isDelivered: Bool
    /// The time at which it was finished and left the queue; `nil` while it is in the queue.
    public var finishedAt: StoreTime?
    /// The content that the store hosts for it (spec rule 43); `nil` if there was none.
    ///
    /// It is the product's content at the time when the transaction entered the queue as purchased
    /// or restored.
    public var contents: [HostedContent]?
    /// Makes the event.
    public init(
        revision: Int64,
        transaction: Transaction,
        isDelivered: Bool,
        finishedAt: StoreTime?,
        contents: [HostedContent]? = nil
    ) {
        self.revision = revision
        self.transaction = transaction
        self.isDelivered = isDelivered
        self.finishedAt = finishedAt
        self.contents = contents
    }
}

// Transaction events are most of what the services read and write. They are therefore encoded and
// decoded without Foundation's coders, with the same bytes.

extension QueueChanged {
    /// Reads the data of an event.
    public init?(json data: [UInt8]) {
        var revision: Int64?
        var transaction: Transaction?
        var isDelivered: Bool?
        var finishedAt: Int64?
        var contents: [HostedContent]?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "revision": return PlainJSON.keep(json.integer(), in: &revision)
                case "transaction":
                    return PlainJSON.keep(Transaction(from: &json), in: &transaction)
                case "isDelivered": return PlainJSON.keep(json.bool(), in: &isDelivered)
                case "finishedAt":
                    if json.null() { return true }
                    return PlainJSON.keep(json.integer(), in: &finishedAt)
                case "contents":
                    return json.null()
                        || PlainJSON.keep(HostedContent.list(from: &json), in: &contents)
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let revision, let transaction, let isDelivered else { return nil }
        self.init(
            revision: revision,
            transaction: transaction,
            isDelivered: isDelivered,
            finishedAt: finishedAt.map(StoreTime.init(millisecondsSinceEpoch:)),
            contents: contents
        )
    }
}
