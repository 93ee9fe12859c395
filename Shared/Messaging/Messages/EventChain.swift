import EventTypes

/// The events of a topic whose keys fall into one slot, in the order of their producer's log.
///
/// A consumer remembers one place for each chain. Every event of a chain at or below that place is
/// done. Slots depend on the key alone, so a topic may get more partitions at any time.
///
/// In a compacted topic each key is a chain of its own. Such a topic drops older events of a key, so
/// its events cannot name the one before them, and need not: the newest one says everything.
public struct EventChain: Hashable, Sendable {
    /// The topic.
    public let topic: String
    /// The number of the slot; in a compacted topic, the key.
    public let name: String

    /// The number of slots of a topic.
    ///
    /// More members of a consumer group than slots have nothing to do. Changing the number would
    /// make all places of consumers meaningless.
    static let slotCount: UInt64 = 16

    private static let compacted = Set(Topics.all.lazy.filter(\.isCompacted).map(\.name))
    private static let slotNames = (0..<slotCount).map { "\($0)" }

    /// The chain of the events of a key.
    public init(topic: String, key: String) {
        self.topic = topic
        name = Self.isLinked(topic) ? Self.slotNames[Int(Self.slot(of: key))] : key
    }

    /// Makes a chain that was stored.
    init(topic: String, name: String) {
        self.topic = topic
        self.name = name
    }

    /// Hashes the name and no more of the topic than its length.
    ///
    /// Each event is looked up by its chain several times, and a batch has few topics.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(topic.utf8.count)
    }

    /// Whether the events of a topic name the event before them in their chain.
    static func isLinked(_ topic: String) -> Bool { !compacted.contains(topic) }

    /// The slot of a key: the hash of its bytes, with the high bits mixed into the low ones.
    static func slot(of key: String) -> UInt64 {
        let hash = FNV1aHash(key).value
        return (hash ^ hash >> 32) % slotCount
    }
}

extension EventChain: Comparable {
    /// Orders chains, so that everybody locks them in one order.
    public static func < (left: EventChain, right: EventChain) -> Bool {
        (left.topic, left.name) < (right.topic, right.name)
    }
}
