/// A row of a sealed log: its place, its month, and the digest of all its columns.
public struct SealedRow: Sendable {
    /// The row's place.
    public let place: LogPlace
    /// The month it belongs to.
    public let month: LogMonth
    /// The digest of all its columns.
    public let digest: LogDigest
    /// The time when it happened, in microseconds since 1970-01-01 00:00 UTC.
    let microsecondsSinceEpoch: Int64
    private let kind: String
    private let subject: String

    /// The row's name in reports.
    package var name: String { "\(kind) about \(subject)" }

    /// Makes a row of a log.
    ///
    /// - Parameters:
    ///   - place: The row's place.
    ///   - microsecondsSinceEpoch: The time when it happened, since 1970-01-01 00:00 UTC.
    ///   - content: All its columns.
    ///   - kind: The kind of row, for reports.
    ///   - subject: The row's subject, for reports; without any payload.
    public init(
        place: LogPlace,
        microsecondsSinceEpoch: Int64,
        content: DigestWriter,
        kind: String,
        subject: String
    ) {
        self.place = place
        self.microsecondsSinceEpoch = microsecondsSinceEpoch
        self.kind = kind
        self.subject = subject
        month = LogMonth(microsecondsSinceEpoch: microsecondsSinceEpoch)
        digest = LogDigest(of: content.bytes)
    }
}
