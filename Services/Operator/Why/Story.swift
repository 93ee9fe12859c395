import EventTypes
import StoreAPI

/// The whole story of one purchase, across all services.
struct Story: Encodable, Hashable, Sendable {
    /// The owner of books: a service, or the processor of payments.
    enum Recorder: Encodable, Hashable, Sendable, CustomStringConvertible {
        case service(ServiceName)
        case processor

        var description: String {
            switch self {
            case .service(let name): name.rawValue
            case .processor: "processor"
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }

    /// Something that happened.
    struct Step: Encodable, Hashable, Sendable {
        /// Milliseconds since 1970.
        let time: StoreTime
        /// The owner of the books that record it.
        let service: Recorder
        /// `state`, `charge`, `posting`, `event`, `subscription`, `receipt`, `delivery`, `webhook`,
        /// `notification`, `credit` or `finish`.
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
    /// The time of the refund.
    let revokedAt: StoreTime?
    /// The steps, in order of time.
    var steps: [Step]
    /// The steps that are left, and who has to take them; empty if nothing is left.
    var waitsFor: [String]
    /// The state of the subscription that it pays for, and what comes next.
    var subscription: String?
    /// The subscription that it pays for: its first transaction, whose story tells its whole life.
    var subscriptionID: TransactionID?
    /// Files of months that have since left the logs and may hold events of this purchase.
    var archives: [String] = []
    /// The transaction in all books, as `reconcile --transactions` lists it.
    var books: TransactionBooks?
    /// The differences between the books; an event on its way counts as a difference until it
    /// arrives.
    var differences: [Reconciliation.Difference] = []

    /// The traces of the steps, in the order of their first use.
    var traceIDs: [String] {
        steps.compactMap(\.traceID).reduce(into: []) { found, trace in
            if !found.contains(trace) { found.append(trace) }
        }
    }

    /// The story for people.
    func lines(_ palette: Palette) -> [String] {
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
        lines.append(palette.table(rows(names), numbers: [1]))
        lines.append("")
        if !archives.isEmpty {
            lines.append("Further events may be in \(archives.joined(separator: ", ")).")
        }
        if let subscription { lines.append(subscription) }
        if let subscriptionID, subscriptionID != transactionID {
            lines.append("Its whole life: counterfoil why \(subscriptionID)")
        }
        if waitsFor.isEmpty {
            lines.append(palette.styled(Cell("Nothing is left to do.", .green)))
        }
        lines += waitsFor.map { palette.styled(Cell("→ ", .yellow)) + $0 }
        return lines
    }

    /// One line per step: its time, the time since the first step, the service, the text and the
    /// trace.
    private func rows(_ traces: [String: String]) -> [[Cell]] {
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
                    Cell("\(step.service)", .cyan),
                    Cell(step.text, step.isProblem ? .red : .plain),
                ]
                return row
                    + (isNumbered ? [Cell(step.traceID.flatMap { traces[$0] } ?? "", .dim)] : [])
            }
    }
}

/// The ways in which an operator can name a purchase.
enum StorySubject: Hashable, Sendable {
    case transaction(TransactionID)
    case account(AccountID)

    /// Reads a transaction id, an order id, or otherwise an account id.
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
