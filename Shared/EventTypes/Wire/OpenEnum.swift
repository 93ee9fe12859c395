/// A set of named values that may grow: a value this version does not know is kept as it came,
/// not refused (spec rule 41).
public protocol OpenEnum: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The value as it stands on the wire.
    var rawValue: String { get }
    /// Recognises a value, or keeps it as unknown.
    init(rawValue: String)
}

extension OpenEnum {
    /// The value as it stands on the wire.
    public var description: String { rawValue }

    /// Reads the value from a JSON string, whatever it is.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the value as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
