package import EventTypes

/// An amount in the unit that Stripe's API has for its currency.
///
/// The unit is the minor unit of ISO 4217 for most currencies, but not for all. An amount that does
/// not fit is refused, never rounded: the ledger and the charge must be the same amount.
package struct ProcessorAmount: Hashable, Sendable {
    /// A whole number of Stripe's unit.
    package let wire: Int64
    /// The currency's code in lower case, as the API has it.
    package let currency: String

    /// Converts an amount of ours.
    ///
    /// - Throws: ``ProcessorAmountError`` if Stripe cannot move exactly this amount.
    package init(_ money: Money) throws(ProcessorAmountError) {
        let rule = try StripeCurrencies.rule(of: money.currency)
        let wire: Int64
        switch rule {
        case .same:
            wire = money.minorUnits
        case .lastDigitZero:
            guard money.minorUnits % 10 == 0 else {
                throw .notDivisible(money, by: 10)
            }
            wire = money.minorUnits
        case .timesHundred:
            let (product, overflow) = money.minorUnits.multipliedReportingOverflow(by: 100)
            guard !overflow else { throw .tooLarge(money) }
            wire = product
        case .byHundred:
            guard money.minorUnits % 100 == 0 else {
                throw .notDivisible(money, by: 100)
            }
            wire = money.minorUnits / 100
        }
        guard wire > 0 else { throw .notPositive(money) }
        guard wire <= StripeCurrencies.maximum(of: money.currency) else { throw .tooLarge(money) }
        self.wire = wire
        currency = money.currency.rawValue.lowercased()
    }

    /// Reads an amount of an answer.
    package init(wire: Int64, currency: String) {
        self.wire = wire
        self.currency = currency
    }

    /// Converts the amount into ours.
    ///
    /// Amounts in lists, of fees for example, may be zero or negative.
    ///
    /// - Returns: The amount.
    /// - Throws: ``ProcessorAmountError`` if it is no amount of ours.
    package func money() throws(ProcessorAmountError) -> Money {
        guard let currency = Currency(rawValue: currency.uppercased()) else {
            throw .unknownCurrency(currency)
        }
        switch try StripeCurrencies.rule(of: currency) {
        case .same, .lastDigitZero:
            return Money(minorUnits: wire, currency: currency)
        case .timesHundred:
            guard wire % 100 == 0 else { throw .notWhole(self) }
            return Money(minorUnits: wire / 100, currency: currency)
        case .byHundred:
            let (product, overflow) = wire.multipliedReportingOverflow(by: 100)
            guard !overflow else { throw .notWhole(self) }
            return Money(minorUnits: product, currency: currency)
        }
    }

    /// Refuses an amount below the least that Stripe charges in its currency.
    ///
    /// Refunds may be smaller, so this is no part of the conversion.
    ///
    /// - Throws: ``ProcessorAmountError``
    package func checkMinimum() throws(ProcessorAmountError) {
        guard let least = StripeCurrencies.minimum(of: currency), wire < least else { return }
        throw .belowMinimum(self, least: least)
    }
}
