/// The prepared statements of a session: a limited cache that forgets the least recently used one.
///
/// Pure: the caller prepares and deallocates.
struct StatementCache {
    /// The identity of a statement: its text and the types of its parameters.
    struct Key: Hashable {
        let text: String
        let types: [UInt32]
    }

    private struct Entry {
        let name: String
        var lastUse: UInt64
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    private var names: UInt64 = 0

    init(capacity: Int) {
        precondition(capacity > 0, "A cache holds at least one statement.")
        self.capacity = capacity
    }

    /// The number of statements in the cache.
    var count: Int { entries.count }

    /// The name of a prepared statement; `nil` if it is not prepared.
    mutating func name(of key: Key) -> String? {
        uses += 1
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = uses
        return entries.values[index].name
    }

    /// Makes a name that no statement of the session has had.
    mutating func makeName() -> String {
        names += 1
        return "s\(names)"
    }

    /// Notes that a statement has been prepared.
    ///
    /// - Returns: The name of the statement that must be deallocated in exchange, if there is one.
    mutating func insert(_ key: Key, name: String) -> String? {
        uses += 1
        var evicted: String?
        if entries.count >= capacity, entries[key] == nil,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            evicted = oldest.value.name
            entries[oldest.key] = nil
        }
        entries[key] = Entry(name: name, lastUse: uses)
        return evicted
    }

    /// Forgets a statement.
    mutating func remove(_ key: Key) {
        entries[key] = nil
    }
}
