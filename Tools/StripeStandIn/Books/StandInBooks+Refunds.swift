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
        guard !charge.isDisputed else {
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
        refunds.append(refund)
        move("refund", -amount, refund.currency, source: refund.id, at: time)
        tell("refund.created", of: refund.json, at: time)
        if let charge = payments[place].charge {
            tell("charge.refunded", of: charge.json, at: time)
        }
        return refund
    }

    /// Ends a refund, also one that had succeeded.
    ///
    /// - Throws: ``StandInError`` if there is none, or it had failed.
    mutating func end(refund id: String, succeeds: Bool, at time: Int64) throws(StandInError) {
        guard let index = refunds.firstIndex(where: { $0.id == id }) else {
            throw .missing("refund", id)
        }
        guard refunds[index].status != "failed" else { throw .invalid("The refund has failed.") }
        refunds[index].status = succeeds ? "succeeded" : "failed"
        let refund = refunds[index]
        if !succeeds {
            let place = try place(ofPayment: refund.payment)
            payments[place].charge?.refunded -= refund.amount
            move("refund_failure", refund.amount, refund.currency, source: refund.id, at: time)
        }
        tell(succeeds ? "refund.updated" : "refund.failed", of: refund.json, at: time)
    }

    /// Disputes a charge: the bank takes the money back.
    ///
    /// - Throws: ``StandInError`` if nothing was paid.
    mutating func dispute(_ payment: String, at time: Int64) throws(StandInError) {
        let place = try place(ofPayment: payment)
        guard let charge = payments[place].charge, charge.isPaid, !charge.isDisputed else {
            throw .invalid("There is no charge to dispute.")
        }
        payments[place].charge?.isDisputed = true
        let id = id("dp")
        let json = StandInJSON.object([
            "id": .text(id), "object": .text("dispute"), "charge": .text(charge.id),
            "payment_intent": .text(payment), "amount": .number(charge.amount),
            "currency": .text(charge.currency), "created": .number(time),
            "status": .text("needs_response"), "reason": .text("fraudulent"),
        ])
        disputes.append(Plain(id: id, created: time, json: json))
        move("adjustment", -charge.amount, charge.currency, source: id, at: time)
        tell("charge.dispute.created", of: json, at: time)
        tell("charge.dispute.funds_withdrawn", of: json, at: time)
    }

    /// Ends a dispute.
    ///
    /// - Throws: ``StandInError`` if there is no open one.
    mutating func endDispute(of payment: String, isWon: Bool, at time: Int64) throws(StandInError) {
        let place = try place(ofPayment: payment)
        guard let charge = payments[place].charge,
            let index = disputes.lastIndex(where: { $0.json[text: "payment_intent"] == payment }),
            disputes[index].json[text: "status"] == "needs_response"
        else { throw .invalid("There is no open dispute.") }
        let json = disputes[index].json.adding(["status": .text(isWon ? "won" : "lost")])
        disputes[index].json = json
        if isWon {
            move("adjustment", charge.amount, charge.currency, source: disputes[index].id, at: time)
            tell("charge.dispute.funds_reinstated", of: json, at: time)
        }
        tell("charge.dispute.closed", of: json, at: time)
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
