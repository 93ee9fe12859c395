/// An enumeration that may grow.
///
/// An unknown value is kept as it is and not rejected (spec rule 41).
public protocol OpenEnum: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The value in its wire format.
    var rawValue: String { get }
    /// Recognizes a value. An unknown one is kept.
    init(rawValue: String)
}

extension OpenEnum {
    /// The value in its wire format.
    public var description: String { rawValue }

    /// Decodes the value from a JSON string, known or not.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the value as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
