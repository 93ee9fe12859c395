extension StandInBooks {
    /// Gives money back.
    ///
    /// - Throws: ``StandInError`` if so much was not paid, or is disputed.
    mutating func refund(
        _ payment: String,
        _ amount: Int64?,
        metadata: [String: String],
        card: TestCard,
        at time: Int64
    ) throws(StandInError) -> StandInRefund {
        let place = try place(ofPayment: payment)
        guard let charge = payments[place].charge, payments[place].status == .succeeded else {
            throw .invalid("The payment has no successful charge to refund.", "payment_intent")
        }
        guard !charge.isDisputed || isRefundable(payment) else {
            throw .invalid("The charge is disputed.", code: "charge_disputed")
        }
        let rest = charge.amount - charge.refunded
        guard rest > 0 else {
            throw .invalid("The charge was refunded already.", code: "charge_already_refunded")
        }
        let amount = amount ?? rest
        guard amount > 0, amount <= rest else {
            throw .invalid("The refund is greater than what is left: \(rest)", "amount")
        }
        payments[place].charge?.refunded += amount
        let refund = StandInRefund(
            id: id("re"),
            created: time,
            payment: payment,
            charge: charge.id,
            amount: amount,
            currency: charge.currency,
            metadata: metadata,
            status: card == .refundWaits ? "pending" : "succeeded"
        )
        add(refund)
        move("refund", -amount, refund.currency, source: refund.id, at: time)
        tell("refund.created", of: refund.json, at: time)
        if let charge = payments[place].charge {
            tell("charge.refunded", of: charge.json, at: time)
        }
        return refund
    }

    /// Whether a disputed payment may be refunded: its bank only inquires, or the dispute was won.
    private func isRefundable(_ payment: String) -> Bool {
        let dispute = disputes.last { $0.json[text: "payment_intent"] == payment }
        let status = dispute?.json[text: "status"] ?? ""
        return status.hasPrefix("warning_") || status == "won"
    }

    /// Ends a refund, also one that had succeeded.
    ///
    /// - Throws: ``StandInError`` if there is none, or it had failed.
    mutating func end(refund id: String, succeeds: Bool, at time: Int64) throws(StandInError) {
        guard let index = place(ofRefund: id) else {
            throw .missing("refund", id)
        }
        guard refunds[index].status != "failed" else { throw .invalid("The refund has failed.") }
        set(succeeds ? "succeeded" : "failed", ofRefund: index)
        let refund = refunds[index]
        if !succeeds {
            let place = try place(ofPayment: refund.payment)
            payments[place].charge?.refunded -= refund.amount
            move("refund_failure", refund.amount, refund.currency, source: refund.id, at: time)
        }
        tell(succeeds ? "refund.updated" : "refund.failed", of: refund.json, at: time)
    }
}

extension StandInJSON {
    /// The text of a member.
    subscript(text name: String) -> String? {
        guard case .object(let members) = self, case .text(let text)? = members[name] else {
            return nil
        }
        return text
    }
}
