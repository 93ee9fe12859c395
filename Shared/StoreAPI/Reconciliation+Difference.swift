public import EventTypes

extension Reconciliation {
    /// A difference between the books.
    public struct Difference: Codable, Hashable, Sendable, CustomStringConvertible {
        /// The refund of a period of a subscription.
        public struct PeriodRefund: Codable, Hashable, Sendable {
            /// The transaction of the period.
            public var transactionID: TransactionID
            /// The amount that is refunded, in minor units.
            public var refunded: Int64
            /// The amount that is due, in minor units.
            public var due: Int64

            /// Makes a refund.
            public init(transactionID: TransactionID, refunded: Int64, due: Int64) {
                self.transactionID = transactionID
                self.refunded = refunded
                self.due = due
            }
        }

        /// The kind of difference, such as `noReceipt`.
        ///
        /// `counterfoil reconcile --help` lists them all.
        public var kind: String
        /// The effect of the difference.
        public var effect: Effect
        /// The transaction; `nil` if the difference concerns no transaction.
        public var transactionID: TransactionID?
        /// The subject if there is no transaction: an account in an app, a key of the processor, or
        /// a product.
        public var subject: String?
        /// The differing values.
        public var detail: String
        /// The refund of a period that is not the one that was due; `nil` for every other difference.
        public var refund: PeriodRefund?

        /// Makes a difference.
        public init(
            kind: String,
            effect: Effect,
            transactionID: TransactionID?,
            subject: String? = nil,
            detail: String,
            refund: PeriodRefund? = nil
        ) {
            self.kind = kind
            self.effect = effect
            self.transactionID = transactionID
            self.subject = subject
            self.detail = detail
            self.refund = refund
        }

        /// The difference in one line.
        public var description: String {
            "\(effect.rawValue): \(transactionID?.rawValue ?? subject ?? "-"): \(kind): \(detail)"
        }
    }
}
