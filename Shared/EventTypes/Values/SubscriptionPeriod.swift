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
        var letter: Character {
            switch self {
            case .day: "D"
            case .week: "W"
            case .month: "M"
            case .year: "Y"
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
        guard text.first == "P", let letter = text.last,
            let unit = Unit.allCases.first(where: { $0.letter == letter }),
            let value = Int(text.dropFirst().dropLast()),
            (1...Self.valueMax).contains(value), text == "P\(value)\(letter)"
        else { return nil }
        self.init(value, unit)
    }

    /// The wire format.
    public var description: String { "P\(value)\(unit.letter)" }

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
