import EventTypes
import Ledger
import Stripe

/// A movement of the store's balance at the processor, as the processor lists it.
struct ProcessorMovement: Hashable, Sendable {
    let id: String
    /// The processor's name for the kind.
    let kind: String
    /// The processor's id of what caused it.
    let source: String?
    /// The processor's id of the payment that it belongs to.
    let payment: String?
    /// The attempt that the texts of a charge or a refund name.
    let attemptID: AttemptID?
    /// The amount before the fee, and the fee, in the processor's unit.
    let amount: ProcessorAmount
    let fee: ProcessorAmount
    /// The amount that was charged or given back, in the currency of the price.
    let asked: Money?
    /// The processor's time.
    let movedAt: MachineTime
}

extension ProcessorMovement {
    /// Reads a movement of Stripe's list.
    init(_ movement: StripeBalanceTransaction) {
        let source = movement.source
        var asked: Money?
        if source?.paymentIntent != nil, let amount = source?.amount,
            let currency = source?.currency
        {
            // An amount that the store cannot read is left out. It then equals no price, and
            // `counterfoil reconcile` shows the movement.
            asked = try? ProcessorAmount(wire: amount, currency: currency).money()
        }
        self.init(
            id: movement.id,
            kind: movement.type,
            source: source?.id,
            payment: source?.paymentIntent?.id,
            attemptID: source?.metadata?["attempt"].flatMap { EventID($0) }
                .map { AttemptID(bytes: $0.bytes) },
            amount: ProcessorAmount(wire: movement.amount, currency: movement.currency),
            fee: ProcessorAmount(wire: movement.fee, currency: movement.currency),
            asked: asked,
            movedAt: MachineTime(millisecondsSinceEpoch: movement.created * 1000)
        )
    }

    /// Finds the movements of the last ten minutes before the newest one, and this one.
    ///
    /// Older ones may be from before the store's first sale. The store does not read those.
    ///
    /// - Returns: Their ids.
    static func newest(of movements: [ProcessorMovement]) -> [String] {
        guard let end = movements.map(\.movedAt).max() else { return [] }
        let start = end.advanced(by: .seconds(-600))
        return movements.filter { $0.movedAt > start }.map(\.id)
    }

    /// The account of the ledger on the other side of the processor's balance.
    ///
    /// An adjustment that belongs to a payment comes from a dispute.
    var side: LedgerAccount {
        switch kind {
        case "charge", "payment", "refund", "payment_refund", "refund_failure",
            "payment_failure_refund":
            .processorPayments
        case "adjustment" where payment != nil: .processorPayments
        case "payout", "payout_cancel", "payout_failure": .bank
        case "stripe_fee", "stripe_fx_fee", "tax_fee", "network_cost": .processorFees
        default: .processorOther
        }
    }

    /// Makes its posting.
    ///
    /// - Parameters:
    ///   - number: The number of the movement.
    ///   - id: The posting's identity.
    ///   - time: The time of the posting.
    /// - Returns: The posting; `nil` if no money moved.
    /// - Throws: `ProcessorAmountError` if an amount is none of the ledger's.
    func posting(
        number: Int,
        id: PostingID,
        at time: StoreTime
    ) throws(ProcessorAmountError) -> Posting? {
        LedgerRules.processorMovement(
            id: id,
            number: number,
            side: side,
            amount: try amount.money(),
            fee: try fee.money(),
            time: time
        )
    }
}
