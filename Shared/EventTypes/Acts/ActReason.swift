/// The reason of an act, in the words of the person who acted.
public struct ActReason: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The most Unicode scalars of a reason.
    public static let lengthMax = 500
    /// 1 to 500 characters without control characters, not only spaces.
    public static let form =
        "a reason of 1 to \(lengthMax) characters in one line, without control characters"
    /// The text.
    public let rawValue: String

    /// Wraps a text from outside.
    ///
    /// - Returns: `nil` if the text does not have the format described by ``form``.
    public init?(rawValue: String) {
        guard Self.isWellFormed(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The text.
    public var description: String { rawValue }

    /// Decodes the reason from a JSON string.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, which describes the expected format.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let reason = ActReason(rawValue: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected \(Self.form)"
            )
        }
        self = reason
    }

    /// Encodes the reason as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    private static func isWellFormed(_ text: String) -> Bool {
        var length = 0
        var hasText = false
        for scalar in text.unicodeScalars {
            length += 1
            guard length <= lengthMax else { return false }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return false
            case .spaceSeparator: break
            default: hasText = true
            }
        }
        return hasText
    }
}
