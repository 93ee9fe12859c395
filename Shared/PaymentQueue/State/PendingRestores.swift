import EventTypes

/// The restores that observers have not heard the end of.
///
/// No I/O. A restore has two halves that come in any order: the store's answer, which names the
/// transactions that it has made, and those transactions, which come over the stream.
struct PendingRestores {
    /// Tells one restore from another.
    typealias Number = Int

    private var last: Number = 0
    /// Those that the store has not answered.
    private var unanswered: Set<Number> = []
    /// Of each that it has answered, the transactions that observers have not heard of.
    private var missing: [Number: Set<TransactionID>] = [:]
    /// Restored transactions that came while a restore was unanswered.
    private var heardOf: Set<TransactionID> = []

    /// A restore is asked for.
    mutating func begin() -> Number {
        last += 1
        unanswered.insert(last)
        return last
    }

    /// The store has made the transactions of a restore.
    ///
    /// - Returns: Whether that was its end: observers have heard of all of them.
    mutating func await(_ ids: [TransactionID], of restore: Number) -> Bool {
        let rest = Set(ids).subtracting(heardOf)
        guard answered(restore) else { return false }
        if !rest.isEmpty { missing[restore] = rest }
        return rest.isEmpty
    }

    /// A restore will not come to its end.
    ///
    /// - Returns: Whether it was under way: then somebody has to be told.
    mutating func giveUp(_ restore: Number) -> Bool {
        let wasAwaited = missing.removeValue(forKey: restore) != nil
        return answered(restore) || wasAwaited
    }

    /// Gives up those whose transactions are awaited.
    ///
    /// - Returns: How many there were.
    mutating func giveUpAnswered() -> Int {
        defer { missing = [:] }
        return missing.count
    }

    /// Gives up all.
    ///
    /// - Returns: How many there were.
    mutating func giveUpAll() -> Int {
        defer { (unanswered, heardOf) = ([], []) }
        return unanswered.count + giveUpAnswered()
    }

    /// Whether a restore was answered, and waits for transactions.
    func isAwaited(_ restore: Number) -> Bool { missing[restore] != nil }

    /// A restored transaction has come.
    ///
    /// - Returns: How many restores end with it.
    mutating func heard(of id: TransactionID) -> Int {
        if !unanswered.isEmpty { heardOf.insert(id) }
        var ended = 0
        for (restore, ids) in missing where ids.contains(id) {
            let rest = ids.subtracting([id])
            missing[restore] = rest.isEmpty ? nil : rest
            if rest.isEmpty { ended += 1 }
        }
        return ended
    }

    private mutating func answered(_ restore: Number) -> Bool {
        defer { if unanswered.isEmpty { heardOf = [] } }
        return unanswered.remove(restore) != nil
    }
}
