import EventTypes
import OperatorCore

/// The form of a raise: a higher price for those who subscribe already.
///
/// Pure.
struct RaiseForm: Hashable, Sendable {
    private let storefront: String
    private let amount: String
    /// The time from which renewals cost it; empty for the next one in time.
    private let from: String

    /// Reads a form that was sent.
    init(_ form: FormFields) {
        storefront = form["storefront"] ?? ""
        amount = form["amount"] ?? ""
        from = form["from"] ?? ""
    }

    /// The raise that the form asks for.
    ///
    /// - Parameters:
    ///   - product: The product, as it is now.
    ///   - back: The place to go on from.
    /// - Returns: The raise, of which nothing is done.
    /// - Throws: ``ConsoleProblem`` if a field cannot be read, or the product costs less.
    func work(
        of product: Product,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> RaiseWork {
        func refusal(_ words: String) -> ConsoleProblem {
            ConsoleProblem(
                400,
                "Nothing was done: no price can be raised like this",
                words,
                back: back
            )
        }
        guard let place = Storefront(rawValue: storefront), let sold = product.prices[place] else {
            throw refusal("The product is not sold in “\(storefront)”.")
        }
        guard let price = Money(decimal: amount, currency: sold.currency), !price.isZero else {
            throw refusal("“\(amount)” is not a price in \(sold.currency).")
        }
        guard price.minorUnits <= sold.minorUnits else {
            throw refusal("New subscribers pay \(sold). Raise the price of the product first.")
        }
        var time: StoreTime?
        if !from.isEmpty {
            time = StoreTime(from)
            guard time != nil else {
                throw refusal("“\(from)” is not a time in UTC such as 2027-06-30T22:00:00Z.")
            }
        }
        return RaiseWork(
            productID: product.id,
            storefront: place,
            price: price,
            effectiveAt: time
        )
    }
}
