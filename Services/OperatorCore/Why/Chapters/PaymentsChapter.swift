import EventTypes
import StoreAPI

/// The data that `payments` and the processor have about a transaction.
struct PaymentsChapter: Sendable {
    struct Attempt: Sendable {
        let kind: String
        let step: String
        let paymentMethod: PaymentMethod
        let callCount: Int
        let dueAt: MachineTime?
        let waitsFor: Int64?
        /// The account at the processor where the payment method was saved; `nil` for the one that every
        /// store has.
        var account: String?
        /// Whether the processor has to be asked first for a charge that the books may have lost.
        var isInDoubt = false
        /// Whether its charge was lost with the books, and found at the processor.
        var isTakenOver = false
    }

    /// An entry of the processor's own list.
    struct ProcessorEntry: Sendable {
        enum Kind: String, Sendable { case charge, refund, reversal }

        let kind: Kind
        let money: Money
        let declineReason: String?
        let time: StoreTime
    }

    /// A try to charge for the next period of a subscription that failed.
    struct FailedTry: Hashable, Sendable {
        let id: TransactionID
        /// The number among the tries for the period, from 1.
        let number: Int
        let price: Money
        let reason: String
        let time: StoreTime
    }

    struct Posting: Sendable {
        let kind: String
        let time: StoreTime
        let entries: [(account: String, amount: Money)]
    }

    let id: TransactionID
    let originalID: TransactionID
    var reason = TransactionReason.purchase
    let state: TransactionState
    let accountID: AccountID
    let bundleID: BundleID
    let productID: ProductID
    let quantity: Int
    let price: Money
    let storefront: Storefront
    let requestedAt: StoreTime
    let purchasedAt: StoreTime?
    let failureReason: String?
    let revokedAt: StoreTime?
    var refunds: [Refund] = []
    let finishedAt: StoreTime?
    var attempts: [Attempt] = []
    var processor: [ProcessorEntry] = []
    var postings: [Posting] = []
    /// The transaction that resumed this one after an interruption.
    var resumedBy: (id: Int64, time: StoreTime)?
    /// The interrupted transaction that this one resumes.
    var resumes: Int64?
    /// The period of a subscription that the transaction pays for; `nil` for every other product.
    var period: TransactionPeriod?
    /// The campaign of the code that the transaction redeems; `nil` if it redeems none.
    var campaign: Int64?
    /// The subscription that the transaction pays for, as it is now.
    var subscription: Subscription?
    /// Of the first transaction of a subscription: the tries to renew that failed, oldest first.
    var failedTries: [FailedTry] = []
    var events: [StoryEvent] = []

    /// The order as the receipt names it: a renewal has its own, a copy that of its original, and a
    /// share has none.
    var orderID: OrderID? {
        guard purchasedAt != nil, reason != .familyShared else { return nil }
        return reason.order(of: id) ?? OrderID(originalID)
    }
}
