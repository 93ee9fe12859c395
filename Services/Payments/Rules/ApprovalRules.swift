import EventTypes
import StoreAPI

/// What an approver's word does (trap 27): the first word counts, the same word again is answered
/// the same, the opposite is refused.
///
/// Pure.
enum ApprovalRules {
    /// The verdict on a word.
    enum Verdict: Hashable, Sendable {
        /// It is the first; it takes effect.
        case accepted
        /// It was said before; nothing changes.
        case repeated
        /// The opposite was said before, or it came too late, or nobody asked.
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
