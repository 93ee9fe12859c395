package import EventTypes
package import StoreAPI

/// The whole story of one purchase, across all services.
package struct Story: Encodable, Hashable, Sendable {
    /// The owner of books: a service, or the processor of payments.
    package enum Recorder: Encodable, Hashable, Sendable, CustomStringConvertible {
        case service(ServiceName)
        case processor

        package var description: String {
            switch self {
            case .service(let name): name.rawValue
            case .processor: "processor"
            }
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }

    /// Something that happened.
    package struct Step: Encodable, Hashable, Sendable {
        /// Milliseconds since 1970.
        package let time: StoreTime
        /// The owner of the books that record it.
        package let service: Recorder
        /// `state`, `charge`, `posting`, `event`, `subscription`, `receipt`, `delivery`, `webhook`,
        /// `notification`, `credit` or `finish`.
        package let kind: String
        /// The step in words.
        package let text: String
        /// The trace of the step.
        package var traceID: String?
        /// Whether it needs somebody's attention.
        package var isProblem = false
    }

    /// A posting of the ledger.
    package struct Posting: Encodable, Hashable, Sendable {
        /// One line of a posting.
        package struct Entry: Encodable, Hashable, Sendable {
            /// The account of the ledger.
            package let account: String
            /// The amount; the amounts of a posting sum to zero.
            package let amount: Money
        }

        /// The kind of the posting, such as `purchase`, `refund` or `refund_reversal`.
        package let kind: String
        /// The time at which it was posted.
        package let time: StoreTime
        /// The lines.
        package let entries: [Entry]
    }

    /// The transaction.
    package let transactionID: TransactionID
    /// The order, once it is paid.
    package let orderID: OrderID?
    /// The buyer.
    package let accountID: AccountID
    /// The app.
    package let bundleID: BundleID
    /// The product.
    package let productID: ProductID
    /// The number of units.
    package let quantity: Int
    /// The price of all units.
    package let price: Money
    /// The region of the sale.
    package let storefront: Storefront
    /// The state of the transaction.
    package let state: TransactionState
    /// The reason of the failure.
    package let failureReason: String?
    /// The time of the refund.
    package let revokedAt: StoreTime?
    /// The postings of the ledger, in order of time.
    package var postings: [Posting]
    /// The steps, in order of time.
    package var steps: [Step]
    /// The steps that are left, and who has to take them; empty if nothing is left.
    package var waitsFor: [String]
    /// The state of the subscription that it pays for, and what comes next.
    package var subscription: String?
    /// The subscription that it pays for: its first transaction, whose story tells its whole life.
    package var subscriptionID: TransactionID?
    /// The buyer's newest request for a refund, as it is now; `nil` if there is none.
    package var refundRequest: RequestedRefund?
    /// Files of months that have since left the logs and may hold events of this purchase.
    package var archives: [String] = []
    /// The transaction in all books, as `reconcile --transactions` lists it.
    package var books: TransactionBooks?
    /// The differences between the books; an event on its way counts as a difference until it
    /// arrives.
    package var differences: [Reconciliation.Difference] = []

    /// The traces of the steps, in the order of their first use.
    package var traceIDs: [String] {
        steps.compactMap(\.traceID).reduce(into: []) { found, trace in
            if !found.contains(trace) { found.append(trace) }
        }
    }
}
