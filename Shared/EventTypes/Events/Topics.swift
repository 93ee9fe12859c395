/// A Kafka topic of the store with its producer, message key and consumers.
public struct Topic: Hashable, Sendable {
    /// The topic's name.
    public let name: String
    /// The only service that writes to the topic.
    public let producer: ServiceName
    /// The key of its messages.
    public let key: Key
    /// The consumers that handle its events; see ``group(of:)``.
    ///
    /// The producer's relay tracks the offset of each of their groups. If the broker loses its log,
    /// the relay publishes again all events that a consumer may have missed. A topic without
    /// consumers is only followed: by streams, which fill their gaps from the database, or by every
    /// process from its beginning, as ``Topics/storeClock``.
    public let consumers: [ServiceName]
    /// Whether the topic is compacted, so that it holds only the newest message of each key.
    public let isCompacted: Bool
    /// Whether consumers wait for a time before they apply an event.
    public private(set) var isDelayed = false
    /// The number of partitions, if the operator cannot choose it.
    public private(set) var fixedPartitions: Int?

    /// The message key of a topic.
    ///
    /// Messages with the same key are ordered.
    public enum Key: String, Sendable {
        /// The account's id.
        case account
        /// The product's id, or the key of a subscription group.
        case product
        /// One key for the whole store, so that all events are in order.
        case store
    }

    /// The dead-letter topic for events that this topic's consumers could not apply; `nil` without
    /// consumers.
    public var deadLetters: String? { consumers.isEmpty ? nil : name + ".dead-letters" }

    /// The Kafka group in which a consumer reads the topic.
    ///
    /// A delayed topic is read in a group of its own, because not every broker serves a group whose
    /// members read different topics, and because a rebalance of one must not stop the other.
    public func group(of consumer: ServiceName) -> String {
        isDelayed ? "\(consumer).delayed" : consumer.rawValue
    }
}

/// All topics of the store.
///
/// `deploy/kafka/topics.sh` creates the same topics.
public enum Topics {
    /// Products of the catalog, and the names of subscription groups.
    public static let catalogProducts = Topic(
        name: "catalog.products",
        producer: .catalog,
        key: .product,
        consumers: [.payments, .receipts, .fulfillment],
        isCompacted: true
    )
    /// Changes of payments.
    public static let paymentsTransactions = Topic(
        name: "payments.transactions",
        producer: .payments,
        key: .account,
        consumers: [.receipts, .fulfillment],
        isCompacted: false
    )
    /// Payments that were accepted and may take a while.
    ///
    /// A queue only shows those that last, so its consumer reads them later than the others.
    public static let paymentsPurchasing = Topic(
        name: "payments.purchasing",
        producer: .payments,
        key: .account,
        consumers: [.fulfillment],
        isCompacted: false,
        isDelayed: true
    )
    /// The word in the place of a topic for an event that is in the log alone.
    ///
    /// Nobody acts on such an event, so no relay publishes it and no replay sends it. The log has it, because
    /// the tables are made again from the log.
    public static let logOnly = "log"
    /// Signed receipts.
    public static let receiptsIssued = Topic(
        name: "receipts.issued",
        producer: .receipts,
        key: .account,
        consumers: [.fulfillment],
        isCompacted: false
    )
    /// Finished transactions and confirmed deliveries.
    public static let fulfillmentTransactions = Topic(
        name: "fulfillment.transactions",
        producer: .fulfillment,
        key: .account,
        consumers: [.payments, .receipts],
        isCompacted: false
    )

    /// Changes of queues, for the streams of the clients.
    public static let fulfillmentQueues = Topic(
        name: "fulfillment.queues",
        producer: .fulfillment,
        key: .account,
        consumers: [],
        isCompacted: false
    )

    /// Changes of the store's clock, which are never deleted.
    ///
    /// Every process of every service reads it from its beginning.
    public static let storeClock = Topic(
        name: "store.clock",
        producer: .payments,
        key: .store,
        consumers: [],
        isCompacted: false,
        fixedPartitions: 1
    )

    /// All topics.
    public static let all = [
        catalogProducts, paymentsTransactions, paymentsPurchasing, receiptsIssued,
        fulfillmentTransactions, fulfillmentQueues, storeClock,
    ]

    /// The default number of partitions of a topic.
    ///
    /// The operator may choose another number.
    public static let partitionCount = 8
}
