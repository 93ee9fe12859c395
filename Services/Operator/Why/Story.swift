import EventTypes
import StoreAPI

/// The whole story of one purchase, across all services.
struct Story: Encodable, Hashable, Sendable {
    /// Something that happened.
    struct Step: Encodable, Hashable, Sendable {
        /// Milliseconds since 1970.
        let time: Timestamp
        /// The service whose books tell it, or `processor`.
        let service: String
        /// `state`, `charge`, `posting`, `event`, `receipt`, `delivery`, `webhook`, `notification`,
        /// `credit` or `finish`.
        let kind: String
        let text: String
        var traceID: String?
        /// Whether it needs somebody's attention.
        var isProblem = false
    }

    let transactionID: TransactionID
    let orderID: OrderID?
    let accountID: AccountID
    let bundleID: BundleID
    let productID: ProductID
    let quantity: Int
    let price: Money
    let storefront: Storefront
    let state: TransactionState
    let failureReason: String?
    /// When it was refunded.
    let revokedAt: Timestamp?
    /// What happened, in the order of time.
    var steps: [Step]
    /// What is left to do, and by whom; empty if nothing is.
    var waitsFor: [String]
    /// Files of months that have left the logs since: events of this purchase may be there.
    var archives: [String] = []
    /// What all books say of it, as `reconcile --transactions` lists it.
    var books: TransactionBooks?
    /// What they disagree about; what is on its way is a difference until it has come.
    var differences: [Reconciliation.Difference] = []

    /// The traces of the steps, in the order of their first use.
    var traceIDs: [String] {
        steps.compactMap(\.traceID).reduce(into: []) { found, trace in
            if !found.contains(trace) { found.append(trace) }
        }
    }

    /// The story for people.
    func lines(_ palette: Palette, at now: Timestamp) -> [String] {
        var title = "Transaction \(transactionID)"
        if let orderID { title += ", order \(orderID)" }
        var lines = [
            palette.styled(Cell(title, .bold)),
            "\(accountID) (\(bundleID)): \(quantity) × \(productID), \(price), \(storefront); "
                + state.rawValue + (failureReason.map { ", \($0)" } ?? "")
                + (revokedAt == nil ? "" : ", refunded"),
        ]
        let traces = traceIDs
        let names = Dictionary(
            uniqueKeysWithValues: traces.enumerated().map {
                ($1, traces.count > 1 ? "\($0 + 1)" : "")
            }
        )
        for trace in traces {
            let name = names[trace, default: ""]
            lines.append(
                palette.styled(Cell("trace" + (name.isEmpty ? "" : " \(name)"), .dim)) + " \(trace)"
            )
        }
        lines.append("")
        lines.append(palette.table(rows(names, at: now), numbers: [1]))
        lines.append("")
        if !archives.isEmpty {
            lines.append("Further events may be in \(archives.joined(separator: ", ")).")
        }
        if waitsFor.isEmpty {
            lines.append(palette.styled(Cell("Nothing is left to do.", .green)))
        }
        lines += waitsFor.map { palette.styled(Cell("→ ", .yellow)) + $0 }
        return lines
    }

    /// A line for each step: when, how long after the first, who, what, of which trace.
    private func rows(_ traces: [String: String], at now: Timestamp) -> [[Cell]] {
        guard let first = steps.first?.time else { return [] }
        let isNumbered = traces.count > 1
        let head =
            ["TIME (\(first.description.prefix(10)), UTC)", "AFTER", "WHERE", "WHAT"]
            + (isNumbered ? ["TRACE"] : [])
        return [head.map { Cell($0, .dim) }]
            + steps.map { step in
                let isSameDay = step.time.description.prefix(10) == first.description.prefix(10)
                let row = [
                    Cell(
                        String(
                            isSameDay
                                ? step.time.description.dropFirst(11).dropLast()
                                : step.time.description.dropLast()
                        )
                    ),
                    Cell("\(Age(of: first, at: step.time))", .dim),
                    Cell(step.service, .cyan),
                    Cell(step.text, step.isProblem ? .red : .plain),
                ]
                return row
                    + (isNumbered ? [Cell(step.traceID.flatMap { traces[$0] } ?? "", .dim)] : [])
            }
    }
}

/// What an operator may name a purchase by.
enum StorySubject: Hashable, Sendable {
    case transaction(TransactionID)
    case account(AccountID)

    /// Reads a transaction id, an order id or, of anything else, an account id.
    ///
    /// - Returns: `nil` if it is none of them.
    init?(_ text: String, isAccount: Bool = false) {
        if !isAccount {
            if let order = OrderID(rawValue: text) {
                self = .transaction(order.transactionID)
                return
            }
            if let transaction = TransactionID(rawValue: text) {
                self = .transaction(transaction)
                return
            }
        }
        guard let account = AccountID(rawValue: text) else { return nil }
        self = .account(account)
    }
}
