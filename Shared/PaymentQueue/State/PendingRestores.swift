import EventTypes

/// The restores whose end observers have not been informed of.
///
/// It does no I/O. A restore has two parts that arrive in any order: the store's answer, which
/// lists the transactions it has made, and the transactions themselves, which arrive over the
/// stream.
struct PendingRestores {
    /// The number that identifies a restore.
    typealias Number = Int

    private var last: Number = 0
    /// The restores that the store has not answered.
    private var unanswered: Set<Number> = []
    /// For each answered restore, the transactions that observers have not received.
    private var missing: [Number: Set<TransactionID>] = [:]
    /// Restored transactions that arrived while a restore was unanswered.
    private var heardOf: Set<TransactionID> = []

    /// Begins a restore.
    mutating func begin() -> Number {
        last += 1
        unanswered.insert(last)
        return last
    }

    /// Records that the store has made the transactions of a restore.
    ///
    /// - Returns: Whether the restore has ended because observers have received all of them.
    mutating func await(_ ids: [TransactionID], of restore: Number) -> Bool {
        let rest = Set(ids).subtracting(heardOf)
        guard answered(restore) else { return false }
        if !rest.isEmpty { missing[restore] = rest }
        return rest.isEmpty
    }

    /// Gives up a restore.
    ///
    /// - Returns: Whether it was in progress. In that case the observers must be informed.
    mutating func giveUp(_ restore: Number) -> Bool {
        let wasAwaited = missing.removeValue(forKey: restore) != nil
        return answered(restore) || wasAwaited
    }

    /// Gives up the restores whose transactions have not all arrived.
    ///
    /// - Returns: The number of these restores.
    mutating func giveUpAnswered() -> Int {
        defer { missing = [:] }
        return missing.count
    }

    /// Gives up all restores.
    ///
    /// - Returns: The number of restores.
    mutating func giveUpAll() -> Int {
        defer { (unanswered, heardOf) = ([], []) }
        return unanswered.count + giveUpAnswered()
    }

    /// Whether a restore has been answered and is waiting for transactions.
    func isAwaited(_ restore: Number) -> Bool { missing[restore] != nil }

    /// Records that a restored transaction has arrived.
    ///
    /// - Returns: The number of restores that end with it.
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
