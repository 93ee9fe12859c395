/// A name or number that points at one thing of one kind.
///
/// Each kind has a type of its own, so that a product can never be passed where an account is
/// meant. On the wire every identifier is a JSON string.
public protocol Identifier: RawRepresentable, Codable, Hashable, Sendable, Comparable,
    CustomStringConvertible, CodingKeyRepresentable
where RawValue == String {
    /// What an identifier of this kind looks like, for error messages.
    static var form: String { get }
    /// Wraps a string without checking it; for values read back from our own tables and events.
    init(unchecked rawValue: String)
    /// Tells whether a string from outside has the form of this kind.
    static func isWellFormed(_ rawValue: String) -> Bool
}

extension Identifier {
    /// Wraps a string from outside.
    ///
    /// - Returns: `nil` if the string does not have the form that ``form`` describes.
    public init?(rawValue: String) {
        guard Self.isWellFormed(rawValue) else { return nil }
        self.init(unchecked: rawValue)
    }

    /// The identifier as it stands on the wire.
    public var description: String { rawValue }

    /// Orders identifiers by their characters.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Reads the identifier from a JSON string.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, naming the expected form.
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

    /// Writes the identifier as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

func isVisibleASCII(_ string: String, lengthMax: Int) -> Bool {
    (1...lengthMax).contains(string.utf8.count)
        && string.utf8.allSatisfy { (0x21...0x7E).contains($0) }
}

/// One spelling only, because identifiers are compared by their characters.
func isUUID(_ string: String) -> Bool {
    EventID(string)?.description == string
}

/// Whether a string is letters, digits and the given punctuation, and as long as it may be.
func isName(_ string: String, lengthMax: Int, punctuation: String) -> Bool {
    (1...lengthMax).contains(string.utf8.count)
        && string.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || punctuation.utf8.contains(byte)
        }
}
