import EventTypes
import Stripe

/// A dispute of a charge, as the processor has it now.
struct ProcessorDispute: Hashable, Sendable {
    /// The movements of its money so far; a stage never goes back.
    enum Stage: Int, Hashable, Sendable, Comparable {
        /// An inquiry, or a dispute that was only opened.
        case noMoneyMoved
        /// The buyer's bank has the money.
        case withdrawn
        /// The store has won, and has the money again.
        case reinstated

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The processor's id.
    let id: String
    /// The attempt that charged.
    let charge: ProcessorSubject
    let amount: Money
    let stage: Stage
    /// The processor's name for the state.
    let status: String
    /// The reason that the buyer gave.
    let reason: String?
    let openedAt: MachineTime
    /// The time by which the store has to answer.
    let answerBy: MachineTime?
}

extension ProcessorDispute {
    /// Reads a dispute of Stripe's.
    ///
    /// - Returns: `nil` if its payment is none of the store's.
    /// - Throws: `ProcessorAmountError` if its amount is none of ours.
    init?(_ dispute: StripeDispute) throws(ProcessorAmountError) {
        guard let charge = ProcessorSubject(dispute.paymentIntent?.metadata ?? [:]) else {
            return nil
        }
        let net = dispute.movements.reduce(0) { $0 &+ $1.amount }
        self.init(
            id: dispute.id,
            charge: charge,
            amount: try ProcessorAmount(wire: dispute.amount, currency: dispute.currency).money(),
            stage: dispute.movements.isEmpty
                ? .noMoneyMoved : net < 0 ? .withdrawn : .reinstated,
            status: dispute.status,
            reason: dispute.reason,
            openedAt: MachineTime(millisecondsSinceEpoch: dispute.created * 1000),
            answerBy: dispute.evidence?.dueBy.map {
                MachineTime(millisecondsSinceEpoch: $0 * 1000)
            }
        )
    }
}
