/// A Kafka topic of the store: who writes it, what its key is, and who must have confirmed it.
public struct Topic: Hashable, Sendable {
    /// The topic's name.
    public let name: String
    /// The service that writes it; no other does.
    public let producer: String
    /// What the key of its messages is.
    public let key: Key
    /// The consumer groups that act on it.
    ///
    /// The producer's relay keeps track of how far each of them has come, and publishes again what
    /// one of them may have missed if the broker loses its log.
    public let consumers: [String]
    /// Whether only the newest message of each key is kept.
    public let isCompacted: Bool

    /// What the key of a topic's messages is; messages of one key are in order.
    public enum Key: String, Sendable {
        /// The account's id.
        case account
        /// The product's id.
        case product
    }

    /// The topic that takes what this topic's consumers could not apply.
    public var deadLetters: String { name + ".dead-letters" }
}

/// Every topic of the store, in one table; `deploy/kafka/topics.sh` creates the same.
public enum Topics {
    /// What the catalog sells.
    public static let catalogProducts = Topic(
        name: "catalog.products",
        producer: "catalog",
        key: .product,
        consumers: ["payments"],
        isCompacted: true
    )
    /// What happens to payments.
    public static let paymentsTransactions = Topic(
        name: "payments.transactions",
        producer: "payments",
        key: .account,
        consumers: ["receipts", "fulfillment"],
        isCompacted: false
    )
    /// What was signed.
    public static let receiptsIssued = Topic(
        name: "receipts.issued",
        producer: "receipts",
        key: .account,
        consumers: ["fulfillment"],
        isCompacted: false
    )
    /// What happens in the queues.
    public static let fulfillmentTransactions = Topic(
        name: "fulfillment.transactions",
        producer: "fulfillment",
        key: .account,
        consumers: ["payments", "receipts"],
        isCompacted: false
    )

    /// All of them.
    public static let all = [
        catalogProducts, paymentsTransactions, receiptsIssued, fulfillmentTransactions,
    ]

    /// How many partitions a topic gets unless the operator made it with another number.
    public static let partitionCount = 8
}
