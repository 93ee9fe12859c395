/// What a stream of a queue sends, and from where a client resumes it.
///
/// Pure.
enum QueueStreamRules {
    /// What to do about a change that a stream hears of.
    enum Action: Hashable, Sendable {
        /// It is the next one.
        case send
        /// It was sent already.
        case skip
        /// Something before it was not heard of.
        case readDatabase
    }

    /// Judges a revision by the last one sent.
    static func action(for revision: Int64, after sent: Int64) -> Action {
        if revision <= sent { return .skip }
        return revision == sent + 1 ? .send : .readDatabase
    }

    /// The ids of a snapshot's events: from each of them a client resumes without missing anything,
    /// wherever in the snapshot it was cut off.
    ///
    /// A snapshot is in the order of the transactions, not of their revisions, so an event's own
    /// revision would not do: a later event may have a lower one. Its id is the highest revision
    /// that no event behind it is at or below; the last one's is the queue's, which also covers
    /// finished transactions, which a snapshot leaves out.
    ///
    /// - Returns: `nil` where resuming means beginning again.
    static func snapshotIDs(revisions: [Int64], queueRevision: Int64) -> [Int64?] {
        var ids: [Int64?] = []
        var covered = queueRevision
        for revision in revisions.reversed() {
            ids.append(covered > 0 ? covered : nil)
            covered = min(covered, revision - 1)
        }
        return ids.reversed()
    }

    /// Whether a client can go on from the id it names, or has to be told everything.
    ///
    /// An id that the queue has not reached comes from a database that is no more (restored from a
    /// backup): what the client knows is not what is there.
    static func canResume(after id: Int64?, queueRevision: Int64) -> Bool {
        guard let id else { return false }
        return id > 0 && !hasGoneBack(to: queueRevision, after: id)
    }

    /// Whether a queue is behind what was sent of it, which it never is but in another database.
    static func hasGoneBack(to queueRevision: Int64, after sent: Int64) -> Bool {
        queueRevision < sent
    }
}
