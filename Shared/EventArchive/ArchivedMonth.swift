public import Seals

/// A month of a service's event log that is in a file as a whole.
public struct ArchivedMonth: Codable, Hashable, Sendable {
    /// The service.
    public let service: String
    private let name: String
    private let firstPlace: String
    private let lastPlace: String
    private let headDigest: String

    private enum CodingKeys: String, CodingKey {
        case service
        case name = "month"
        case firstPlace = "first"
        case lastPlace = "last"
        case headDigest = "head"
    }

    /// Names a month.
    ///
    /// - Parameters:
    ///   - month: The month.
    ///   - service: Whose log it is of.
    ///   - first: The place of its first row.
    ///   - last: The place of its last row.
    ///   - head: The digest of its newest seal, which all of its rows are in.
    public init(
        _ month: LogMonth,
        of service: String,
        first: OutboxCursor,
        last: OutboxCursor,
        head: LogDigest
    ) {
        self.service = service
        name = month.description
        firstPlace = first.description
        lastPlace = last.description
        headDigest = head.description
    }

    /// The month; `nil` if the manifest names none.
    public var month: LogMonth? { LogMonth(name) }
    /// The place of its first row.
    public var first: OutboxCursor? { OutboxCursor(utf8: Array(firstPlace.utf8)) }
    /// The place of its last row.
    public var last: OutboxCursor? { OutboxCursor(utf8: Array(lastPlace.utf8)) }
    /// The digest of its newest seal.
    public var head: LogDigest? { LogDigest(headDigest) }

    /// What the file of a month is called.
    public static func fileName(_ month: LogMonth, of service: String) -> String {
        "\(service)-\(month).jsonl.gz"
    }
}
