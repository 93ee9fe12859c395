package import EventTypes

/// The reason why an amount cannot be moved by Stripe, or an amount of Stripe's not be read.
///
/// It is a mistake of the price, not of the buyer, so it never becomes a decline.
package enum ProcessorAmountError: Error, Hashable, CustomStringConvertible {
    /// Stripe does not charge in the currency.
    case unsupportedCurrency(Currency)
    /// An answer names a currency that is none of ISO 4217.
    case unknownCurrency(String)
    /// Stripe takes only multiples of this many minor units in the currency.
    case notDivisible(Money, by: Int)
    /// The amount has more digits than Stripe takes.
    case tooLarge(Money)
    /// The amount is zero or negative.
    case notPositive(Money)
    /// The amount is below the least that Stripe charges.
    case belowMinimum(ProcessorAmount, least: Int64)
    /// An answer has an amount that is not a whole number of minor units of ours.
    case notWhole(ProcessorAmount)

    /// The reason as a sentence.
    package var description: String {
        switch self {
        case .unsupportedCurrency(let currency):
            "Stripe does not charge in \(currency)."
        case .unknownCurrency(let code):
            "Stripe answered with the currency \(code), which is none of ISO 4217."
        case .notDivisible(let money, let divisor):
            "Stripe takes \(money.currency) only in multiples of \(divisor) minor units, "
                + "and \(money) is none."
        case .tooLarge(let money):
            "\(money) has more digits than Stripe takes."
        case .notPositive(let money):
            "\(money) is nothing to charge or to refund."
        case .belowMinimum(let amount, let least):
            "Stripe charges at least \(least) units of \(amount.currency), not \(amount.wire)."
        case .notWhole(let amount):
            "Stripe answered with \(amount.wire) units of \(amount.currency), "
                + "which is not a whole number of minor units."
        }
    }
}
