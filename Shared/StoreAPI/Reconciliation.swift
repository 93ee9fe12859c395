public import EventTypes

/// What `counterfoil reconcile --json` prints: whether all books of the store agree.
///
/// The form is stable: fields are added, and none is renamed or removed. ``TransactionBooks`` is also
/// the field `books` of `counterfoil why TRANSACTION --json`.
public struct Reconciliation: Codable, Hashable, Sendable {
    /// How many there are in one book, and what they sum to.
    public struct Total: Codable, Hashable, Sendable {
        /// How many.
        public var count: Int
        /// Minor units by currency.
        public var amounts: [String: Int64]

        /// Makes a total.
        public init(count: Int = 0, amounts: [String: Int64] = [:]) {
            self.count = count
            self.amounts = amounts
        }
    }

    /// What a difference means to whoever paid.
    public enum Effect: String, Codable, CaseIterable, Sendable {
        /// Something did not get its due: a purchase without a receipt, a refund that is not posted.
        case lost
        /// Something had its effect more than once, or a charge has no purchase.
        case doubled
        /// Books contradict each other in another way.
        case wrong
    }

    /// Something that the books disagree about.
    public struct Difference: Codable, Hashable, Sendable, CustomStringConvertible {
        /// What kind, such as `noReceipt`; `counterfoil reconcile --help` lists them.
        public var kind: String
        /// What it means.
        public var effect: Effect
        /// The transaction; `nil` for what is about none.
        public var transactionID: TransactionID?
        /// What it is about instead: an account in an app, a key of the processor, a product.
        public var subject: String?
        /// What differs, in numbers.
        public var detail: String

        /// Makes a difference.
        public init(
            kind: String,
            effect: Effect,
            transactionID: TransactionID?,
            subject: String? = nil,
            detail: String
        ) {
            self.kind = kind
            self.effect = effect
            self.transactionID = transactionID
            self.subject = subject
            self.detail = detail
        }

        /// In one line.
        public var description: String {
            "\(effect.rawValue): \(transactionID?.rawValue ?? subject ?? "-"): \(kind): \(detail)"
        }
    }

    /// The transactions that were asked for since then were compared; `nil` for all.
    public var since: Timestamp?
    /// What changed after that was left out; with `--settled 0` nothing is.
    public var until: Timestamp
    /// How many transactions were compared.
    public var compared: Int
    /// How many changed a moment ago, and were left out.
    public var onTheirWay: Int
    /// What `payments` says was purchased or restored.
    public var purchased: Total
    /// How many of them cost nothing, and so are in neither the processor's list nor the ledger.
    public var free: Int
    /// The charges on the processor's list of what was purchased.
    public var processor: Total
    /// The purchases in the ledger.
    public var postings: Total
    /// The receipts.
    public var receipts: Total
    /// The purchases whose deliveries are all made.
    public var deliveries: Total
    /// How many accounts were compared: those that anything was ever said of.
    public var accounts: Int
    /// How many differences lost something.
    public var lost: Int
    /// How many doubled something.
    public var doubled: Int
    /// How many are wrong in another way.
    public var wrong: Int
    /// How many there are of each kind.
    public var differenceCounts: [String: Int]
    /// The differences, at most `--limit` of a kind.
    public var differences: [Difference]
    /// With `--transactions` every transaction that was compared, by id and at most `--limit`;
    /// `nil` without.
    public var transactions: [TransactionBooks]?

    /// Makes a reconciliation.
    public init(since: Timestamp?, until: Timestamp) {
        self.since = since
        self.until = until
        (compared, onTheirWay, free, accounts) = (0, 0, 0, 0)
        (purchased, processor, postings) = (Total(), Total(), Total())
        (receipts, deliveries) = (Total(), Total())
        (lost, doubled, wrong) = (0, 0, 0)
        differenceCounts = [:]
        differences = []
        transactions = nil
    }
}

/// What all books of the store say of one transaction.
public struct TransactionBooks: Codable, Hashable, Sendable {
    /// In `payments`.
    public struct Entry: Codable, Hashable, Sendable {
        /// Who pays.
        public var accountID: AccountID
        /// In which app.
        public var bundleID: BundleID
        /// For what.
        public var productID: ProductID
        /// For how many.
        public var quantity: Int
        /// The purchase that it is a copy of; its own id if it is none.
        public var originalID: TransactionID
        /// Its state.
        public var state: TransactionState
        /// Its price, of all of the quantity.
        public var price: Money
        /// How many deliveries it owes.
        public var deliveryCount: Int
        /// Whether the app's finish is known here.
        public var isFinished: Bool
        /// Whether it was refunded.
        public var isRevoked: Bool
        /// When it was asked for.
        public var requestedAt: Timestamp
        /// When any of that changed last.
        public var changedAt: Timestamp
        /// What it credits by its delivery plan, by unit; a copy credits nothing.
        public var credits: [String: Int64]

        /// Makes an entry.
        public init(
            accountID: AccountID,
            bundleID: BundleID,
            productID: ProductID,
            quantity: Int,
            originalID: TransactionID,
            state: TransactionState,
            price: Money,
            deliveryCount: Int,
            isFinished: Bool,
            isRevoked: Bool,
            requestedAt: Timestamp,
            changedAt: Timestamp,
            credits: [String: Int64] = [:]
        ) {
            self.accountID = accountID
            self.bundleID = bundleID
            self.productID = productID
            self.quantity = quantity
            self.originalID = originalID
            self.state = state
            self.price = price
            self.deliveryCount = deliveryCount
            self.isFinished = isFinished
            self.isRevoked = isRevoked
            self.requestedAt = requestedAt
            self.changedAt = changedAt
            self.credits = credits
        }
    }

    /// A charge on the processor's list that was not declined.
    public struct Charge: Codable, Hashable, Sendable {
        /// What was charged.
        public var amount: Money
        /// Whether it was given back.
        public var isReturned: Bool
        /// When that happened.
        public var changedAt: Timestamp

        /// Makes a charge.
        public init(amount: Money, isReturned: Bool, changedAt: Timestamp) {
            self.amount = amount
            self.isReturned = isReturned
            self.changedAt = changedAt
        }
    }

    /// A posting in the ledger.
    public struct Posting: Codable, Hashable, Sendable {
        /// `purchase`, `refund`, `stray_charge` or `stray_charge_return`.
        public var kind: String
        /// What it took from the buyer; negative for what it gave back.
        public var amount: Money
        /// Whether its entries sum to zero in every currency.
        public var isBalanced: Bool
        /// When it was posted.
        public var postedAt: Timestamp

        /// Makes a posting.
        public init(kind: String, amount: Money, isBalanced: Bool, postedAt: Timestamp) {
            self.kind = kind
            self.amount = amount
            self.isBalanced = isBalanced
            self.postedAt = postedAt
        }
    }

    /// A receipt in `receipts`.
    public struct Receipt: Codable, Hashable, Sendable {
        /// Whether it says that the purchase was refunded.
        public var isRevoked: Bool
        /// When it was signed.
        public var signedAt: Timestamp

        /// Makes a receipt.
        public init(isRevoked: Bool, signedAt: Timestamp) {
            self.isRevoked = isRevoked
            self.signedAt = signedAt
        }
    }

    /// A row of the deliveries ledger in `fulfillment`.
    public struct Delivery: Codable, Hashable, Sendable {
        /// Its place in the delivery plan and its kind, such as `1:webhook`; `1:refund` is the call
        /// that tells the same webhook of the refund.
        public var target: String
        /// `entitlement`, `credit`, `webhook` or `app`.
        public var kind: String
        /// `pending`, `delivered` or `void`.
        public var state: String

        /// Makes a delivery.
        public init(target: String, kind: String, state: String) {
            self.target = target
            self.kind = kind
            self.state = state
        }

        /// The id that the merchant's webhook is sent with each time (`webhook-id`); `nil` for what
        /// is no webhook.
        ///
        /// - Parameter id: The transaction.
        /// - Returns: The id.
        public func webhookID(of id: TransactionID) -> String? {
            guard kind == "webhook" else { return nil }
            return "delivery_\(id)_\(target.prefix { $0 != ":" })\(isOfRefund ? "_refund" : "")"
        }

        /// Whether it tells of the refund, and so is none of the delivery plan's.
        public var isOfRefund: Bool { target.hasSuffix(":refund") }
    }

    /// An entry of the credits ledger in `fulfillment`.
    public struct Credit: Codable, Hashable, Sendable {
        /// The unit.
        public var unit: String
        /// `grant` or `revoke`.
        public var kind: String
        /// By how much the balance rises.
        public var amount: Int64

        /// Makes an entry.
        public init(unit: String, kind: String, amount: Int64) {
            self.unit = unit
            self.kind = kind
            self.amount = amount
        }
    }

    /// In `fulfillment`.
    public struct Queued: Codable, Hashable, Sendable {
        /// Its state in the queue.
        public var state: TransactionState
        /// Whether nothing is owed but what the app itself does.
        public var isDelivered: Bool
        /// Whether the app finished it.
        public var isFinished: Bool
        /// When it changed last.
        public var changedAt: Timestamp
        /// Its deliveries.
        public var deliveries: [Delivery]
        /// Its credits.
        public var credits: [Credit]
        /// Whether the account owns what it or its original bought; `nil` if that is nowhere.
        public var isEntitled: Bool?

        /// Makes an entry.
        public init(
            state: TransactionState,
            isDelivered: Bool,
            isFinished: Bool,
            changedAt: Timestamp,
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
    /// What `payments` has; `nil` if it knows none.
    public var entry: Entry?
    /// The charges on the processor's list.
    public var charges: [Charge] = []
    /// The postings in the ledger.
    public var postings: [Posting] = []
    /// The receipts.
    public var receipts: [Receipt] = []
    /// Whether `receipts` knows of the app's finish.
    public var isFinishedInReceipts = false
    /// What `fulfillment` has; `nil` if it is in no queue.
    public var queued: Queued?

    /// Makes the books of a transaction that none has.
    public init(id: TransactionID) { self.id = id }

    /// When any of the books changed last; `nil` if it is in none.
    public var changedAt: Timestamp? {
        var times = charges.map(\.changedAt) + postings.map(\.postedAt) + receipts.map(\.signedAt)
        times += [entry?.changedAt, queued?.changedAt].compactMap(\.self)
        return times.max()
    }

    /// Whether `payments` says that it was purchased or restored.
    public var isPaid: Bool {
        entry.map { [.purchased, .restored].contains($0.state) } ?? false
    }
}
