/// What the head of a queue's stream says, so that a client which comes back finds out whether it is
/// still the queue that it knew.
///
/// A database that was restored from a backup knows less than it has told of. Its queues may be
/// behind what their clients have, or may have gone on beyond it by then: the first shows by the
/// revision, the second by the database.
public struct QueueStreamHead: Hashable, Sendable {
    /// The HTTP field of the revision.
    public static let revisionField = "queue-revision"
    /// The HTTP field of the database.
    public static let databaseField = "queue-database"

    /// The revision that the queue had when the stream was opened; `nil` where the store says none.
    public var revision: Int64?
    /// Names the database as it is since it was started last.
    ///
    /// The same name is of the same database; another name may be of another one. `nil` where the
    /// store says none.
    public var database: String?

    /// Makes what a store says.
    public init(revision: Int64?, database: String?) {
        self.revision = revision
        self.database = database
    }

    /// Reads the fields of an answer.
    public init(revision: String?, database: String?) {
        self.init(revision: revision.flatMap { Int64($0) }, database: database)
    }
}
