import EventTypes
import OperatorCore

/// The form of a raise: a higher price for those who subscribe already, and how far the work is.
///
/// Pure. The work goes through the store's list page by page. Each answer carries the next step in
/// a form, so nothing is kept here, and a step that is sent twice raises nothing twice.
struct RaiseForm: Hashable, Sendable {
    /// The work on the subscriptions.
    enum Step: String, Sendable {
        /// They are counted.
        case count
        /// Their prices are raised.
        case raise
    }

    var step = Step.count
    var storefront = ""
    var amount = ""
    /// The time from which renewals cost it; empty for the next one in time.
    var from = ""
    var reason = ""
    /// The end of the page before; empty for the first page.
    var after = ""
    /// The numbers so far.
    var counts = SubscriptionRaise.Counts()

    /// An empty form.
    init() {}

    /// Reads a form that was sent.
    init(_ form: FormFields) {
        step = form["step"].flatMap { Step(rawValue: $0) } ?? .count
        storefront = form["storefront"] ?? ""
        amount = form["amount"] ?? ""
        from = form["from"] ?? ""
        reason = form["reason"] ?? ""
        after = form["after"] ?? ""
        func number(_ name: String) -> Int { form[name].flatMap { Int($0) } ?? 0 }
        counts = SubscriptionRaise.Counts(
            raised: number("raised"),
            others: number("others"),
            waiting: number("waiting")
        )
    }

    /// Whether the form begins, and so needs no place to go on from.
    var isFirst: Bool {
        step == .count && after.isEmpty && counts == SubscriptionRaise.Counts()
    }

    /// All fields but the reason and the confirmation, as a browser sends them.
    var fields: [(name: String, value: String)] {
        [
            ("step", step.rawValue), ("storefront", storefront), ("amount", amount), ("from", from),
            ("after", after), ("raised", "\(counts.raised)"), ("others", "\(counts.others)"),
            ("waiting", "\(counts.waiting)"),
        ]
    }

    /// The raise that the form asks for.
    ///
    /// - Parameters:
    ///   - product: The product, as it is now.
    ///   - back: The place to go on from.
    /// - Returns: The raise.
    /// - Throws: ``ConsoleProblem`` if a field cannot be read, or the product costs less.
    func raise(
        of product: Product,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> SubscriptionRaise {
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
            throw refusal("“\(amount)” is no price in \(sold.currency).")
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
        return SubscriptionRaise(
            of: product.id,
            in: place,
            from: time,
            because: step == .raise ? ActReason(rawValue: reason) : nil,
            isDryRun: step == .count
        ) { theirs in
            // Who began in another currency keeps it, and is counted among the others.
            theirs == price.currency ? price : nil
        }
    }
}
