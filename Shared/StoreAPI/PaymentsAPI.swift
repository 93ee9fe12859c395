public import EventTypes

/// A request to add a payment to the account's queue (spec rules 22 to 31).
public struct PaymentRequest: Codable, Hashable, Sendable {
    /// What to buy.
    public var productID: ProductID
    /// How many, from 1 to 10.
    public var quantity: Int
    /// Where.
    public var storefront: Storefront
    /// The price of one that the buyer saw.
    ///
    /// A different price is refused with `stale_price`.
    public var price: Money
    /// What to charge: a token of the payment processor.
    ///
    /// The sandbox's are in ``SandboxPaymentMethod``.
    public var paymentMethod: String
    /// The app's own opaque name for the buyer.
    public var applicationUsername: String?
    /// The purchase that the buyer began outside the app and that this pays (spec rule 116).
    ///
    /// It is paid once: whoever comes second is refused with `purchase_intent_unknown`.
    public var purchaseIntentID: PurchaseIntentID?

    /// Makes a request.
    public init(
        productID: ProductID,
        quantity: Int = 1,
        storefront: Storefront,
        price: Money,
        paymentMethod: String,
        applicationUsername: String? = nil,
        purchaseIntentID: PurchaseIntentID? = nil
    ) {
        self.productID = productID
        self.quantity = quantity
        self.storefront = storefront
        self.price = price
        self.paymentMethod = paymentMethod
        self.applicationUsername = applicationUsername
        self.purchaseIntentID = purchaseIntentID
    }
}

/// The payment methods of the built-in sandbox processor, named for what they give.
public enum SandboxPaymentMethod: String, CaseIterable, Sendable {
    /// Charges at once.
    case success = "sandbox_success"
    /// Declines.
    case decline = "sandbox_decline"
    /// Has too little money.
    case insufficientFunds = "sandbox_insufficient_funds"
    /// The buyer calls it off at the prompt.
    case cancelled = "sandbox_cancelled"
    /// The buyer leaves the prompt to mend something (spec rule 114); a resumption charges.
    case interrupted = "sandbox_interrupted"
    /// Asks for approval first; charges once approved.
    case needsApproval = "sandbox_needs_approval"
    /// Charges, but the answer is lost; an inquiry finds the charge.
    case unknownCharged = "sandbox_unknown_charged"
    /// Does not charge, and the answer is lost; an inquiry finds no charge.
    case unknownNotCharged = "sandbox_unknown_not_charged"
    /// Charges after two seconds.
    case slow = "sandbox_slow"
    /// Refuses the first two calls as temporarily unavailable, then charges.
    case flaky = "sandbox_flaky"
}

/// An answer that holds one transaction.
public struct TransactionResponse: Codable, Hashable, Sendable {
    /// The transaction.
    public var transaction: Transaction
    /// Makes an answer.
    public init(transaction: Transaction) { self.transaction = transaction }
}

/// An approver's word on a deferred transaction (Ask to Buy).
public struct ApprovalRequest: Codable, Hashable, Sendable {
    /// The word.
    public var decision: Decision
    /// Makes a request.
    public init(decision: Decision) { self.decision = decision }

    /// What an approver can say.
    public enum Decision: String, Codable, Hashable, Sendable {
        /// Charge it.
        case approve
        /// Fail it.
        case decline
    }
}

/// A request to take up a payment that was interrupted (spec rule 114).
public struct ResumptionRequest: Codable, Hashable, Sendable {
    /// What to charge; by default the sandbox's ``SandboxPaymentMethod/success``.
    public var paymentMethod: String?
    /// Makes a request.
    public init(paymentMethod: String? = nil) { self.paymentMethod = paymentMethod }
}

/// A request to restore what the account owns (spec rules 62 to 72).
public struct RestoreRequest: Codable, Hashable, Sendable {
    /// Only purchases made under this name; by default all.
    public var applicationUsername: String?
    /// Only purchases of these products; by default of all.
    public var productIDs: [ProductID]?
    /// Makes a request.
    public init(applicationUsername: String? = nil, productIDs: [ProductID]? = nil) {
        self.applicationUsername = applicationUsername
        self.productIDs = productIDs
    }
}

/// What a restore made: one new transaction for each restorable finished purchase.
public struct RestoreResponse: Codable, Hashable, Sendable {
    /// The new transactions, each with its original's id.
    public var transactions: [Transaction]
    /// Makes an answer.
    public init(transactions: [Transaction]) { self.transactions = transactions }
}
