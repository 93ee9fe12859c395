import EventTypes
import StoreAPI

/// The rules for an approver's decision (trap 27).
///
/// The first decision counts. Repeating it gets the same answer, and the opposite is refused.
///
/// Pure.
enum ApprovalRules {
    /// The verdict on a decision.
    enum Verdict: Hashable, Sendable {
        /// The decision is the first and takes effect.
        case accepted
        /// The same decision was made before; nothing changes.
        case repeated
        /// The opposite was decided before, or no approval is awaited.
        case refused(TransactionRefusal)
    }

    static func verdict(
        on decision: ApprovalRequest.Decision,
        for record: TransactionRecord
    ) -> Verdict {
        if let earlier = record.approval {
            return earlier == decision ? .repeated : .refused(.decidedOtherwise)
        }
        return record.transaction.state == .deferred ? .accepted : .refused(.notDeferred)
    }
}
