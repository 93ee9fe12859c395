/// The rules for sending changes over a queue's stream, and for resuming it.
///
/// Pure.
enum QueueStreamRules {
    /// The action for a change that arrives from the hub.
    enum Action: Hashable, Sendable {
        /// It is the next change.
        case send
        /// It was sent already.
        case skip
        /// A change before it is missing.
        case readDatabase
    }

    /// Compares a revision with the last one sent.
    static func action(for revision: Int64, after sent: Int64) -> Action {
        if revision <= sent { return .skip }
        return revision == sent + 1 ? .send : .readDatabase
    }

    /// Returns the ids of a snapshot's events.
    ///
    /// A client can resume from each of them without missing anything, no matter where the snapshot
    /// was cut off.
    ///
    /// A snapshot is in the order of the transactions, not of their revisions. An event's own
    /// revision would not do, because a later event may have a lower one. An event's id is
    /// therefore the highest revision such that all later events are above it. The last id is the
    /// queue's revision, which also covers finished transactions that the snapshot leaves out.
    ///
    /// - Returns: The ids, with `nil` for events from which the client has to begin again.
    static func snapshotIDs(revisions: [Int64], queueRevision: Int64) -> [Int64?] {
        var ids: [Int64?] = []
        var covered = queueRevision
        for revision in revisions.reversed() {
            ids.append(covered > 0 ? covered : nil)
            covered = min(covered, revision - 1)
        }
        return ids.reversed()
    }

    /// Whether a client can resume from an id.
    ///
    /// If not, it is sent everything.
    ///
    /// An id above the queue's revision comes from a database that no longer exists, because a
    /// backup was restored. The client then knows a state that the database does not have.
    static func canResume(after id: Int64?, queueRevision: Int64) -> Bool {
        guard let id else { return false }
        return id > 0 && !hasGoneBack(to: queueRevision, after: id)
    }

    /// Whether a queue is behind what was sent, which happens only if the database was replaced.
    static func hasGoneBack(to queueRevision: Int64, after sent: Int64) -> Bool {
        queueRevision < sent
    }
}
