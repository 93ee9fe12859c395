/// A length of calendar time, such as one month.
///
/// The wire format is a duration of ISO 8601 with a single unit: `P1W`, `P3M`, `P1Y`.
public struct SubscriptionPeriod: Codable, Hashable, Sendable, CustomStringConvertible {
    /// A unit of calendar time, with StoreKit's raw values.
    public enum Unit: Int, CaseIterable, Sendable {
        /// A day.
        case day = 0
        /// Seven days.
        case week = 1
        /// A calendar month.
        case month = 2
        /// A calendar year.
        case year = 3

        /// The unit's letter in ISO 8601.
        fileprivate var letter: String {
            switch self {
            case .day: "D"
            case .week: "W"
            case .month: "M"
            case .year: "Y"
            }
        }

        /// Recognizes a letter.
        fileprivate init?(letter: UInt8) {
            switch letter {
            case UInt8(ascii: "D"): self = .day
            case UInt8(ascii: "W"): self = .week
            case UInt8(ascii: "M"): self = .month
            case UInt8(ascii: "Y"): self = .year
            default: return nil
            }
        }
    }

    /// The largest number of units.
    public static let valueMax = 999

    /// The number of units, from 1.
    public let value: Int
    /// The unit.
    public let unit: Unit

    /// Makes a period.
    ///
    /// - Precondition: `value` is from 1 to ``valueMax``.
    public init(_ value: Int, _ unit: Unit) {
        precondition((1...Self.valueMax).contains(value), "A period has from 1 to 999 units.")
        self.value = value
        self.unit = unit
    }

    /// Reads the wire format.
    ///
    /// - Returns: `nil` for anything but `P`, a number from 1 to ``valueMax`` without leading
    ///   zeros, and one of `D`, `W`, `M` and `Y`.
    public init?(iso8601 text: String) {
        // Each event of a subscription has some, so the bytes are read and not the characters.
        let bytes = text.utf8
        guard (3...5).contains(bytes.count), bytes.first == UInt8(ascii: "P"),
            let unit = bytes.last.flatMap(Unit.init(letter:))
        else { return nil }
        var value = 0
        for digit in bytes.dropFirst().dropLast() {
            let least = value == 0 ? UInt8(ascii: "1") : UInt8(ascii: "0")
            guard digit >= least, digit <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        self.init(value, unit)
    }

    /// The wire format.
    public var description: String { "P" + String(value) + unit.letter }

    /// Decodes the period from its wire format.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let period = SubscriptionPeriod(iso8601: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "A period is a number and a unit, such as P1M."
            )
        }
        self = period
    }

    /// Encodes the period in its wire format.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
