import EventTypes
import Messaging

/// What a replay would do: counted before anything is done.
///
/// Pure; it holds numbers only, and one for each account.
struct ReplayOutline: Sendable {
    /// How many events are selected.
    private(set) var events = 0
    /// How many of each type, by topic.
    private(set) var counts: [String: [String: Int]] = [:]
    /// When the first of them happened.
    private(set) var first: Timestamp?
    /// When the last of them happened.
    private(set) var last: Timestamp?
    /// What each consumer has not done of what it acts on.
    private(set) var owed: [String: Int] = [:]
    /// Why events are not sent, and how many.
    private(set) var refused: [String: Int] = [:]
    private var keys: Set<Int> = []

    /// How many accounts and products they are of.
    var keyCount: Int { keys.count }

    /// Counts an event.
    mutating func add(_ event: OutboxEvent) {
        if let problem = Self.problem(of: event) { refused[problem, default: 0] += 1 }
        events += 1
        counts[event.topic, default: [:]][event.type.rawValue, default: 0] += 1
        first = min(first ?? event.time, event.time)
        last = max(last ?? event.time, event.time)
        var hasher = Hasher()
        hasher.combine(event.key)
        keys.insert(hasher.finalize())
    }

    /// Notes what a consumer has not done of some events.
    mutating func add(owed count: Int, to consumer: String) {
        owed[consumer, default: 0] += count
    }

    /// Why an event may not be sent again; `nil` if it may.
    ///
    /// What is sent is read in full first: an event of a version that is not known here, or that no
    /// longer reads as what it says it is, is named and left alone.
    static func problem(of event: OutboxEvent) -> String? {
        do {
            switch event.type {
            case .productChanged: _ = try EventCoding.decode(ProductChanged.self, from: event.data)
            case .receiptIssued: _ = try EventCoding.decode(ReceiptIssued.self, from: event.data)
            case .receiptReissued:
                _ = try EventCoding.decode(ReceiptReissued.self, from: event.data)
            case .deliveryConfirmed:
                _ = try EventCoding.decode(DeliveryConfirmed.self, from: event.data)
            case .queueChanged, .transactionFinished:
                _ = try EventCoding.decode(QueueChanged.self, from: event.data)
            case .accountChanged: _ = try EventCoding.decode(AccountChanged.self, from: event.data)
            case .queueAccountChanged:
                _ = try EventCoding.decode(QueueAccountChanged.self, from: event.data)
            case let type where EventType.all.contains(type):
                _ = try EventCoding.decode(TransactionChanged.self, from: event.data)
            default: return "\(event.type) is of no version that is known here"
            }
        } catch {
            return "\(event.type) does not read as what it says it is"
        }
        return nil
    }
}
