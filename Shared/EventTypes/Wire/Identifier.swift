/// An identifier for one kind of object.
///
/// Each kind has its own type, so that a product id can never be passed in place of an account id.
/// In the wire format every identifier is a JSON string.
public protocol Identifier: RawRepresentable, Codable, Hashable, Sendable, Comparable,
    CustomStringConvertible, CodingKeyRepresentable
where RawValue == String {
    /// A description of the format, for error messages.
    static var form: String { get }
    /// Wraps a string without checking it. Use it for values from the store's own tables and
    /// events.
    init(unchecked rawValue: String)
    /// Whether a string from outside has the format of this kind.
    static func isWellFormed(_ rawValue: String) -> Bool
}

extension Identifier {
    /// Wraps a string from outside.
    ///
    /// - Returns: `nil` if the string does not have the format described by ``form``.
    public init?(rawValue: String) {
        guard Self.isWellFormed(rawValue) else { return nil }
        self.init(unchecked: rawValue)
    }

    /// The identifier in its wire format.
    public var description: String { rawValue }

    /// Orders identifiers by their characters.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Decodes the identifier from a JSON string.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, which describes the expected format.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let rawValue = try container.decode(String.self)
        guard Self.isWellFormed(rawValue) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected \(Self.form)"
            )
        }
        self.init(unchecked: rawValue)
    }

    /// Encodes the identifier as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

func isVisibleASCII(_ string: String, lengthMax: Int) -> Bool {
    (1...lengthMax).contains(string.utf8.count)
        && string.utf8.allSatisfy { (0x21...0x7E).contains($0) }
}

/// Only lower case is allowed, because identifiers are compared by their characters.
func isUUID(_ string: String) -> Bool {
    EventID(string)?.description == string
}

/// Whether a string has only letters, digits and the given punctuation, and is not too long.
func isName(_ string: String, lengthMax: Int, punctuation: String) -> Bool {
    (1...lengthMax).contains(string.utf8.count)
        && string.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || punctuation.utf8.contains(byte)
        }
}
