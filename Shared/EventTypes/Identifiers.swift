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

/// A buyer, as the app's own account system names them.
///
/// Unique within the store.
public struct AccountID: Identifier {
    /// 1 to 128 visible ASCII characters.
    public static let form = "an account id of 1 to 128 visible ASCII characters"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Tells whether the string is 1 to 128 visible ASCII characters.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isVisibleASCII(rawValue, lengthMax: 128)
    }
}

/// An app, by its bundle identifier (`com.example.app`).
public struct BundleID: Identifier {
    /// 1 to 155 letters, digits, hyphens and full stops.
    public static let form = "a bundle id of 1 to 155 letters, digits, hyphens and full stops"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Tells whether the string is 1 to 155 letters, digits, hyphens and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 155, punctuation: "-.")
    }
}

/// A sellable thing.
///
/// Unique in the catalog forever, also after it left sale (spec rule 97).
public struct ProductID: Identifier {
    /// 1 to 255 letters, digits, hyphens, underscores and full stops.
    public static let form =
        "a product id of 1 to 255 letters, digits, hyphens, underscores and full stops"
    /// The identifier's characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Tells whether the string is 1 to 255 letters, digits, hyphens, underscores and full stops.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        isName(rawValue, lengthMax: 255, punctuation: "-._")
    }
}

/// A payment transaction: a decimal number, as StoreKit's `transactionIdentifier`.
public struct TransactionID: Identifier {
    /// 1 to 18 decimal digits.
    public static let form = "a transaction id of 1 to 18 decimal digits"
    /// The number's digits.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Wraps a number that the store drew: the millisecond it was drawn in, and four digits of a counter.
    public init(number: Int64) { self.rawValue = String(number) }
    /// The number, as it is stored in the ledgers.
    public var number: Int64 { Int64(rawValue) ?? 0 }
    /// Tells whether the string is 1 to 18 decimal digits.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        (1...18).contains(rawValue.utf8.count)
            && rawValue.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    /// Orders transactions by number: by the milliseconds they were made in.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// A purchase that a buyer began outside the app.
public struct PurchaseIntentID: Identifier {
    /// A UUID in lower case.
    public static let form = "a purchase intent id, which is a UUID in lower case"
    /// The UUID's 36 characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Makes a new id: a UUID of version 7, as an event's.
    public init(time: Timestamp) { rawValue = EventID(time: time).description }
    /// Tells whether the string is a UUID in lower case.
    public static func isWellFormed(_ rawValue: String) -> Bool { isUUID(rawValue) }
}

/// A price increase that a subscriber was asked about.
public struct PriceConsentID: Identifier {
    /// A UUID in lower case.
    public static let form = "a price consent id, which is a UUID in lower case"
    /// The UUID's 36 characters.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Makes a new id: a UUID of version 7, as an event's.
    public init(time: Timestamp) { rawValue = EventID(time: time).description }
    /// Tells whether the string is a UUID in lower case.
    public static func isWellFormed(_ rawValue: String) -> Bool { isUUID(rawValue) }
}

/// A region of sale: an ISO 3166-1 alpha-3 code, as StoreKit's `SKStorefront.countryCode`.
public struct Storefront: Identifier {
    /// Three upper-case letters of ISO 3166-1.
    public static let form = "an ISO 3166-1 alpha-3 storefront such as USA"
    /// The code.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Tells whether the string is a country code of ISO 3166-1 alpha-3.
    public static func isWellFormed(_ rawValue: String) -> Bool { codes.contains(rawValue) }
}

/// A language of a product's texts: a BCP 47 tag such as `en-US`.
public struct LanguageTag: Identifier {
    /// 2 to 35 letters, digits and hyphens.
    public static let form = "a BCP 47 language tag such as en-US"
    /// The tag.
    public let rawValue: String
    /// Wraps a string without checking it.
    public init(unchecked rawValue: String) { self.rawValue = rawValue }
    /// Tells whether the string is 2 to 35 letters, digits and hyphens.
    public static func isWellFormed(_ rawValue: String) -> Bool {
        rawValue.utf8.count >= 2 && isName(rawValue, lengthMax: 35, punctuation: "-")
    }
}

private func isVisibleASCII(_ string: String, lengthMax: Int) -> Bool {
    (1...lengthMax).contains(string.utf8.count)
        && string.utf8.allSatisfy { (0x21...0x7E).contains($0) }
}

/// One spelling only, because identifiers are compared by their characters.
private func isUUID(_ string: String) -> Bool {
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
