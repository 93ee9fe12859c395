import EventTypes
import StoreAPI
import StoreTracing

/// A transaction as `payments` stores it: the published transaction and internal fields.
struct TransactionRecord: Hashable, Sendable {
    /// The published transaction, at its newest version.
    var transaction: Transaction
    /// The approver's decision, if there is one.
    var approval: ApprovalRequest.Decision?
    /// The act of the approver.
    @Boxed var approvalAct: Act? = nil
    /// The rate of the tax in the price, at the time the payment was accepted.
    ///
    /// A refund uses the same rate, so it reverses exactly what was posted.
    var taxBasisPoints: Int
    /// The trace of the payment request, to which all later steps of the transaction belong.
    var traceparent: TraceContext?

    /// The id of the trace for log lines; empty if there is none.
    var trace: String { traceparent?.traceID.description ?? "" }

    /// Whether the product is a non-consumable that the account itself has bought, and so owns for
    /// good (spec X1).
    ///
    /// What a family shares is not owned: the account may buy it too.
    var isOwnable: Bool {
        transaction.productType == .nonConsumable && transaction.reason != .familyShared
    }

    /// The account of the buyer.
    var accountKey: AccountKey {
        AccountKey(accountID: transaction.accountID, bundleID: transaction.bundleID)
    }

    /// The key of the ownership that this transaction would have.
    var ownershipKey: OwnershipKey {
        OwnershipKey(
            accountID: transaction.accountID,
            bundleID: transaction.bundleID,
            productID: transaction.productID
        )
    }
}
