/// A buyer's request for a refund of a purchase, and what became of it.
///
/// A purchase has at most one open request. It has the buyer's reason as a code and no words of theirs,
/// which would stay in the event log for ever.
public struct RequestedRefund: Codable, Hashable, Sendable {
    /// The state of a request.
    public enum State: OpenEnum {
        /// Nobody has decided yet.
        case open
        /// The money goes back, all of it or a part.
        case approved
        /// The buyer gets nothing back.
        case declined
        /// A state that only a newer version of the store knows.
        case unknown(String)

        /// All states that this version knows.
        public static let all: [State] = [.open, .approved, .declined]

        /// Recognizes a state.
        ///
        /// An unknown one is kept.
        public init(rawValue: String) {
            self = Self.all.first { $0.rawValue == rawValue } ?? .unknown(rawValue)
        }

        /// The state in its wire format.
        public var rawValue: String {
            switch self {
            case .open: "open"
            case .approved: "approved"
            case .declined: "declined"
            case .unknown(let rawValue): rawValue
            }
        }
    }

    /// The purchase.
    public var transactionID: TransactionID
    /// The number of the request among those of the purchase, from 1.
    public var number: Int
    /// The account that bought and asks.
    public var accountID: AccountID
    /// The app.
    public var bundleID: BundleID
    /// The product.
    public var productID: ProductID
    /// The type of the product.
    public var productType: ProductType
    /// The buyer's reason.
    public var reason: RefundReason
    /// The time of the request.
    public var requestedAt: StoreTime
    /// The state.
    public var state: State
    /// The time of the decision; `nil` while the request is open.
    public var decidedAt: StoreTime?
    /// The number of the refund that gives the money back; `nil` if none was needed, or none is made.
    public var refundNumber: Int?

    /// Makes an open request.
    public init(
        number: Int,
        of transaction: Transaction,
        because reason: RefundReason,
        at time: StoreTime
    ) {
        transactionID = transaction.id
        self.number = number
        accountID = transaction.accountID
        bundleID = transaction.bundleID
        productID = transaction.productID
        productType = transaction.productType
        self.reason = reason
        requestedAt = time
        state = .open
    }
}
