/// The fields in the head of a queue's stream.
///
/// A returning client uses them to check whether the queue is still the one it knew.
///
/// A database that was restored from a backup may lack data that it sent before. Its queues may
/// then be behind their clients, which the revision reveals. They may also have advanced beyond
/// them again, which the database field reveals.
public struct QueueStreamHead: Hashable, Sendable {
    /// The HTTP field with the revision.
    public static let revisionField = "queue-revision"
    /// The HTTP field with the database.
    public static let databaseField = "queue-database"

    /// The queue's revision when the stream was opened; `nil` if the store did not send one.
    public var revision: Int64?
    /// The name of the database since its last start.
    ///
    /// Equal names mean the same database. Different names may mean different databases. It is
    /// `nil` if the store did not send one.
    public var database: String?

    /// Makes a head from its values.
    public init(revision: Int64?, database: String?) {
        self.revision = revision
        self.database = database
    }

    /// Makes a head from the fields of a response.
    public init(revision: String?, database: String?) {
        self.init(revision: revision.flatMap { Int64($0) }, database: database)
    }
}
