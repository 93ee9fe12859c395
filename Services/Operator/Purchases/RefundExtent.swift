import ArgumentParser
import EventTypes
import OperatorCore

/// The options that say how much a refund gives back, and whether the buyer keeps the product.
struct RefundExtent: ParsableArguments {
    @Option(help: "The amount to refund, in the currency of the purchase, such as 1.50.")
    var amount: String?

    @Flag(help: "Take the product away from the buyer.")
    var revoke = false

    @Flag(help: "Leave the buyer the product.")
    var keep = false

    func validate() throws {
        guard !(revoke && keep) else {
            throw ValidationError("--revoke and --keep contradict each other.")
        }
    }

    /// Whether the refund takes the product away; `nil` if nobody says so.
    var revokes: Bool? { revoke ? true : keep ? false : nil }

    /// The amount in a currency; `nil` if none is named.
    func money(in currency: Currency) throws(OperatorError) -> Money? {
        guard let amount else { return nil }
        guard let money = Money(decimal: amount, currency: currency) else {
            throw OperatorError(
                .usage,
                """
                \(amount) is not an amount in \(currency), which has \(currency.exponent) decimal \
                places. Write it with a point and without the currency.
                """
            )
        }
        return money
    }
}
