public import Seals

/// A whole month of a service's event log in a file.
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

    /// Makes a month.
    ///
    /// - Parameters:
    ///   - month: The month.
    ///   - service: The service whose log it is.
    ///   - first: The place of its first row.
    ///   - last: The place of its last row.
    ///   - head: The digest of its newest seal, which covers all its rows.
    public init(
        _ month: LogMonth,
        of service: String,
        first: LogPlace,
        last: LogPlace,
        head: LogDigest
    ) {
        self.service = service
        name = month.description
        firstPlace = first.description
        lastPlace = last.description
        headDigest = head.description
    }

    /// The month; `nil` if the manifest does not contain a valid one.
    public var month: LogMonth? { LogMonth(name) }
    /// The place of its first row.
    public var first: LogPlace? { LogPlace(utf8: Array(firstPlace.utf8)) }
    /// The place of its last row.
    public var last: LogPlace? { LogPlace(utf8: Array(lastPlace.utf8)) }
    /// The digest of its newest seal.
    public var head: LogDigest? { LogDigest(headDigest) }

    /// The name of a month's file.
    public static func fileName(_ month: LogMonth, of service: String) -> String {
        "\(service)-\(month).jsonl.gz"
    }
}
