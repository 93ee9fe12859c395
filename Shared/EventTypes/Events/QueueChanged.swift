/// `queue.changed.v1` and `transaction.finished.v1`: an account's queue changed, by one transaction
/// that entered it, moved, was delivered, or was finished.
///
/// It is what clients receive on the queue's stream, byte for byte.
public struct QueueChanged: Event, Hashable {
    /// Counts the changes to this account's queue, from 1 and without a gap; the `id` of the
    /// server-sent event.
    public var revision: Int64
    /// The transaction.
    public var transaction: Transaction
    /// Whether every delivery that the store owes is confirmed, so that it can be finished.
    public var isDelivered: Bool
    /// When it was finished and so left the queue; `nil` while it is in it.
    public var finishedAt: Timestamp?
    /// What the store hosts for it (spec rule 43), as its product had it when the transaction
    /// entered the queue as purchased or restored; `nil` if there was nothing.
    public var contents: [HostedContent]?
    /// Makes the event.
    public init(
        revision: Int64,
        transaction: Transaction,
        isDelivered: Bool,
        finishedAt: Timestamp?,
        contents: [HostedContent]? = nil
    ) {
        self.revision = revision
        self.transaction = transaction
        self.isDelivered = isDelivered
        self.finishedAt = finishedAt
        self.contents = contents
    }
}

// Read and written without Foundation's coders, byte for byte as those do it: the events of a transaction
// are most of what the services read and write.

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
            finishedAt: finishedAt.map(Timestamp.init(millisecondsSinceEpoch:)),
            contents: contents
        )
    }
}
