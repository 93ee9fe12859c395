public import EventTypes

/// The output of `counterfoil reconcile --json`, which compares all books of the store.
///
/// The format is stable: fields may be added, but none is renamed or removed. ``TransactionBooks``
/// is also the field `books` of `counterfoil why TRANSACTION --json`.
public struct Reconciliation: Codable, Hashable, Sendable {
    /// The number and the sum of the records in one book.
    public struct Total: Codable, Hashable, Sendable {
        /// The number of records.
        public var count: Int
        /// The sum in minor units, by currency.
        public var amounts: [String: Int64]

        /// Makes a total.
        public init(count: Int = 0, amounts: [String: Int64] = [:]) {
            self.count = count
            self.amounts = amounts
        }
    }

    /// The effect of a difference for the buyer.
    public enum Effect: String, Codable, CaseIterable, Sendable {
        /// Something is missing, such as the receipt of a purchase or the posting of a refund.
        case lost
        /// Something happened more than once, or a charge has no purchase.
        case doubled
        /// The books contradict each other in another way.
        case wrong
    }

    /// The start of the comparison: transactions requested since then were compared; `nil` for all.
    public var since: StoreTime?
    /// The end of the comparison: later changes were left out.
    ///
    /// With `--settled 0` none are left out.
    public var until: StoreTime
    /// The number of transactions that were compared.
    public var compared: Int
    /// The number of transactions that were left out because they changed recently.
    public var onTheirWay: Int
    /// The transactions that are purchased or restored according to `payments`.
    public var purchased: Total
    /// The number of free transactions among them, which are neither in the processor's list nor in
    /// the ledger.
    public var free: Int
    /// The charges for these transactions in the processor's list.
    public var processor: Total
    /// The purchases in the ledger.
    public var postings: Total
    /// The receipts.
    public var receipts: Total
    /// The purchases with complete deliveries.
    public var deliveries: Total
    /// The number of accounts that were compared.
    ///
    /// Accounts that were never changed are not included.
    public var accounts: Int
    /// The number of subscriptions that were audited; `nil` in answers of older versions.
    public var subscriptions: Int?
    /// The reason why the balance at the processor was not compared within the last day, and the
    /// advice to the operator; `nil` if it was, or if the processor is the sandbox's.
    public var balanceNote: String?
    /// The number of differences with the effect `lost`.
    public var lost: Int
    /// The number of differences with the effect `doubled`.
    public var doubled: Int
    /// The number of differences with the effect `wrong`.
    public var wrong: Int
    /// The number of differences of each kind.
    public var differenceCounts: [String: Int]
    /// The differences, at most `--limit` of each kind.
    public var differences: [Difference]
    /// With `--transactions`, the compared transactions, ordered by id and at most `--limit`; `nil`
    /// without it.
    public var transactions: [TransactionBooks]?

    /// Makes a reconciliation.
    public init(since: StoreTime?, until: StoreTime) {
        self.since = since
        self.until = until
        (compared, onTheirWay, free, accounts) = (0, 0, 0, 0)
        subscriptions = 0
        balanceNote = nil
        (purchased, processor, postings) = (Total(), Total(), Total())
        (receipts, deliveries) = (Total(), Total())
        (lost, doubled, wrong) = (0, 0, 0)
        differenceCounts = [:]
        differences = []
        transactions = nil
    }
}

/// The records of one transaction in all books of the store.
public struct TransactionBooks: Codable, Hashable, Sendable {
    /// The record in `payments`.
    public struct Entry: Codable, Hashable, Sendable {
        /// The account that pays.
        public var accountID: AccountID
        /// The app of the purchase.
        public var bundleID: BundleID
        /// The product.
        public var productID: ProductID
        /// The number of units.
        public var quantity: Int
        /// The original purchase of a copy; its own id if it is not a copy.
        public var originalID: TransactionID
        /// The reason for which it was made.
        public var reason: TransactionReason
        /// Its state.
        public var state: TransactionState
        /// The total price.
        public var price: Money
        /// The number of deliveries that others have to confirm: its webhooks.
        public var deliveryCount: Int
        /// Whether its delivery plan has an entitlement.
        public var grantsEntitlement: Bool
        /// Whether `payments` knows that the app has finished it.
        ///
        /// It is `nil` for products that cannot be restored, whose finish `payments` does not keep.
        public var isFinished: Bool?
        /// Whether a refund has taken the product away.
        public var isRevoked: Bool
        /// All its refunds, reversed ones included.
        public var refunds: [Refund]
        /// The time of the request.
        public var requestedAt: StoreTime
        /// The time of the last change of this record.
        public var changedAt: StoreTime
        /// The credits in its delivery plan, by unit.
        ///
        /// A copy credits nothing.
        public var credits: [String: Int64]

        /// Makes an entry.
        public init(
            accountID: AccountID,
            bundleID: BundleID,
            productID: ProductID,
            quantity: Int,
            originalID: TransactionID,
            reason: TransactionReason,
            state: TransactionState,
            price: Money,
            deliveryCount: Int,
            grantsEntitlement: Bool,
            isFinished: Bool?,
            isRevoked: Bool,
            refunds: [Refund] = [],
            requestedAt: StoreTime,
            changedAt: StoreTime,
            credits: [String: Int64] = [:]
        ) {
            self.accountID = accountID
            self.bundleID = bundleID
            self.productID = productID
            self.quantity = quantity
            self.originalID = originalID
            self.reason = reason
            self.state = state
            self.price = price
            self.deliveryCount = deliveryCount
            self.grantsEntitlement = grantsEntitlement
            self.isFinished = isFinished
            self.isRevoked = isRevoked
            self.refunds = refunds
            self.requestedAt = requestedAt
            self.changedAt = changedAt
            self.credits = credits
        }
    }

    /// A charge in the processor's list that was not declined.
    public struct Charge: Codable, Hashable, Sendable {
        /// The amount of the charge.
        public var amount: Money
        /// The part of it that was returned, and did not come back.
        public var returned: Money
        /// The time of the last change.
        public var changedAt: StoreTime

        /// Makes a charge.
        public init(amount: Money, returned: Money, changedAt: StoreTime) {
            self.amount = amount
            self.returned = returned
            self.changedAt = changedAt
        }

        /// Whether all of it was returned.
        public var isReturned: Bool { returned == amount }
    }

    /// A posting in the ledger.
    public struct Posting: Codable, Hashable, Sendable {
        /// `purchase`, `refund`, `refund_reversal`, `stray_charge` or `stray_charge_return`.
        public var kind: String
        /// The amount taken from the buyer; negative if it was returned.
        public var amount: Money
        /// Whether its entries sum to zero.
        public var isBalanced: Bool
        /// The time of the posting.
        public var postedAt: StoreTime

        /// Makes a posting.
        public init(kind: String, amount: Money, isBalanced: Bool, postedAt: StoreTime) {
            self.kind = kind
            self.amount = amount
            self.isBalanced = isBalanced
            self.postedAt = postedAt
        }
    }

    /// A receipt in `receipts`.
    public struct Receipt: Codable, Hashable, Sendable {
        /// Whether the receipt marks the purchase as refunded.
        public var isRevoked: Bool
        /// The time of the signature.
        public var signedAt: StoreTime

        /// Makes a receipt.
        public init(isRevoked: Bool, signedAt: StoreTime) {
            self.isRevoked = isRevoked
            self.signedAt = signedAt
        }
    }

    /// A row in the table of deliveries in `fulfillment`.
    public struct Delivery: Codable, Hashable, Sendable {
        /// The entry of the delivery plan, and what is reported to it.
        public var target: DeliveryTargetName
        /// `webhook`, or a kind that only a newer version of the store knows.
        public var kind: String
        /// `pending`, `delivered` or `void`.
        public var state: String

        /// Makes a delivery.
        public init(target: DeliveryTargetName, kind: String, state: String) {
            self.target = target
            self.kind = kind
            self.state = state
        }

        /// Returns the id with which the merchant's webhook is always sent (`webhook-id`).
        ///
        /// - Parameter id: The transaction.
        /// - Returns: The id; `nil` if the delivery is not a webhook.
        public func webhookID(of id: TransactionID) -> String? {
            kind == "webhook" ? target.webhookID(of: id) : nil
        }

        /// Whether it reports a refund or its reversal, and is therefore not part of the delivery
        /// plan.
        public var isOfRefund: Bool { target.isOfRefund }
    }

    /// A row in the table of credits in `fulfillment`.
    public struct Credit: Codable, Hashable, Sendable {
        /// The unit.
        public var unit: String
        /// `grant` or `revoke`; either may happen more than once.
        public var kind: String
        /// The change of the balance.
        public var amount: Int64

        /// Makes an entry.
        public init(unit: String, kind: String, amount: Int64) {
            self.unit = unit
            self.kind = kind
            self.amount = amount
        }
    }

    /// The record in `fulfillment`.
    public struct Queued: Codable, Hashable, Sendable {
        /// Its state in the queue.
        public var state: TransactionState
        /// Whether everything is delivered except what the app itself delivers.
        public var isDelivered: Bool
        /// Whether the app has finished it.
        public var isFinished: Bool
        /// The time of the last change.
        public var changedAt: StoreTime
        /// Its deliveries that others confirm.
        public var deliveries: [Delivery]
        /// Its credits.
        public var credits: [Credit]
        /// Whether the account owns the product of the transaction or its original; `nil` if there
        /// is no record.
        public var isEntitled: Bool?

        /// Makes an entry.
        public init(
            state: TransactionState,
            isDelivered: Bool,
            isFinished: Bool,
            changedAt: StoreTime,
            deliveries: [Delivery] = [],
            credits: [Credit] = [],
            isEntitled: Bool? = nil
        ) {
            self.state = state
            self.isDelivered = isDelivered
            self.isFinished = isFinished
            self.changedAt = changedAt
            self.deliveries = deliveries
            self.credits = credits
            self.isEntitled = isEntitled
        }
    }

    /// The transaction.
    public var id: TransactionID
    /// The record in `payments`; `nil` if there is none.
    public var entry: Entry?
    /// The charges in the processor's list.
    public var charges: [Charge] = []
    /// The postings in the ledger.
    public var postings: [Posting] = []
    /// The receipts.
    public var receipts: [Receipt] = []
    /// Whether `receipts` knows that the app has finished it.
    public var isFinishedInReceipts = false
    /// The record in `fulfillment`; `nil` if it is in no queue.
    public var queued: Queued?

    /// Makes the records of a transaction that is in no book.
    public init(id: TransactionID) { self.id = id }

    /// The time of the last change in any book; `nil` if it is in none.
    public var changedAt: StoreTime? {
        var times = charges.map(\.changedAt) + postings.map(\.postedAt) + receipts.map(\.signedAt)
        times += [entry?.changedAt, queued?.changedAt].compactMap(\.self)
        return times.max()
    }

    /// Whether it is purchased or restored according to `payments`.
    public var isPaid: Bool {
        entry.map { [.purchased, .restored].contains($0.state) } ?? false
    }
}
