public import Foundation

/// An amount of money in a currency.
///
/// It is a whole number of the currency's minor units, never a fraction.
///
/// The wire format is `{"minorUnits": 999, "currency": "USD"}`.
public struct Money: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The amount in the currency's smallest unit: cents, yen, fils.
    public let minorUnits: Int64
    /// The currency.
    public let currency: Currency

    /// Makes an amount.
    public init(minorUnits: Int64, currency: Currency) {
        self.minorUnits = minorUnits
        self.currency = currency
    }

    /// Returns an amount of zero in a currency.
    public static func zero(_ currency: Currency) -> Money {
        Money(minorUnits: 0, currency: currency)
    }

    /// Whether the amount is exactly zero.
    public var isZero: Bool { minorUnits == 0 }

    /// The same amount with the opposite sign.
    public var negated: Money { Money(minorUnits: -minorUnits, currency: currency) }

    /// Multiplies a unit price by a quantity.
    ///
    /// - Returns: `nil` if the result does not fit in 64 bits.
    public func multiplied(by quantity: Int) -> Money? {
        let (product, overflow) = minorUnits.multipliedReportingOverflow(by: Int64(quantity))
        return overflow ? nil : Money(minorUnits: product, currency: currency)
    }

    /// Adds two amounts of the same currency.
    ///
    /// - Precondition: Both amounts have the same currency. Anything else is a bug.
    public func adding(_ other: Money) -> Money? {
        precondition(currency == other.currency, "Amounts of different currencies are never added.")
        let (sum, overflow) = minorUnits.addingReportingOverflow(other.minorUnits)
        return overflow ? nil : Money(minorUnits: sum, currency: currency)
    }

    /// The amount in thousandths of the currency unit.
    ///
    /// The `price` of a signed transaction has this form (spec section 2.3).
    public var milliunits: Int64 {
        switch currency.exponent {
        case 0: minorUnits * 1000
        case 1: minorUnits * 100
        case 2: minorUnits * 10
        default: minorUnits
        }
    }

    /// The exact amount as a decimal number of the currency unit.
    public var decimal: Decimal {
        Decimal(
            sign: minorUnits < 0 ? .minus : .plus,
            exponent: -currency.exponent,
            significand: Decimal(minorUnits.magnitude)
        )
    }

    /// The amount as text, such as `9.99 USD`, `1500 JPY` or `0.250 KWD`.
    public var description: String {
        guard currency.exponent > 0 else { return "\(minorUnits) \(currency)" }
        let digits = String(minorUnits.magnitude)
        let padding = String(repeating: "0", count: max(0, currency.exponent + 1 - digits.count))
        let padded = padding + digits
        let whole = padded.dropLast(currency.exponent)
        let fraction = padded.suffix(currency.exponent)
        return "\(minorUnits < 0 ? "-" : "")\(whole).\(fraction) \(currency)"
    }
}
