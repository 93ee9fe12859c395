import EventTypes
import StoreAPI
import StoreTracing

/// A transaction as `payments` keeps it: what it publishes, and what only it needs to know.
struct TransactionRecord: Hashable, Sendable {
    /// What is published, at its newest version.
    var transaction: Transaction
    /// What an approver said, if anybody did.
    var approval: ApprovalRequest.Decision?
    /// The rate of the tax contained in the price, as it was when the payment was accepted, so that
    /// a refund reverses exactly what was posted.
    var taxBasisPoints: Int
    /// The trace of the request that it began with, to which everything that becomes of it belongs.
    var traceparent: String?

    /// The id of its trace, for a log line; empty if it has none.
    var trace: String {
        traceparent.flatMap { TraceContext($0) }?.traceID.description ?? ""
    }

    /// Whether the product is one that an account owns once and for good (spec X1).
    var isOwnable: Bool { transaction.productType == .nonConsumable }

    /// The account whose it is.
    var accountKey: AccountKey {
        AccountKey(accountID: transaction.accountID, bundleID: transaction.bundleID)
    }

    /// The one ownership that this transaction is about.
    var ownershipKey: OwnershipKey {
        OwnershipKey(
            accountID: transaction.accountID,
            bundleID: transaction.bundleID,
            productID: transaction.productID
        )
    }
}
