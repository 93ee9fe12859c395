/// A row of a log that is sealed: its place, its month, and the digest of everything it says.
public struct SealedRow: Sendable {
    /// Where it stands.
    public let cursor: OutboxCursor
    /// The month it belongs to.
    public let month: LogMonth
    /// The digest of all its columns.
    public let digest: LogDigest
    /// When it happened, in microseconds since 1970-01-01 00:00 UTC.
    let microsecondsSinceEpoch: Int64
    private let kind: String
    private let subject: String

    /// What to call it where it is reported.
    package var name: String { "\(kind) about \(subject)" }

    /// Makes a row of a log.
    ///
    /// - Parameters:
    ///   - cursor: Where it stands.
    ///   - microsecondsSinceEpoch: When it happened, since 1970-01-01 00:00 UTC.
    ///   - content: All its columns.
    ///   - kind: What kind of row it is, where it is reported.
    ///   - subject: What it is about, where it is reported; no payload.
    public init(
        cursor: OutboxCursor,
        microsecondsSinceEpoch: Int64,
        content: DigestWriter,
        kind: String,
        subject: String
    ) {
        self.cursor = cursor
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
        self.kind = kind
        self.subject = subject
        month = LogMonth(microsecondsSinceEpoch: microsecondsSinceEpoch)
        digest = LogDigest(of: content.bytes)
    }
}
