extension StandInBooks {
    /// Disputes a charge: the bank takes the money back, unless it only inquires.
    ///
    /// - Throws: ``StandInError`` if nothing was paid, or it is disputed.
    mutating func dispute(
        _ payment: String,
        isInquiry: Bool = false,
        at time: Int64
    ) throws(StandInError) {
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
            "status": .text(isInquiry ? "warning_needs_response" : "needs_response"),
            "reason": .text("fraudulent"), "metadata": .texts([:]), "livemode": .bool(false),
            "is_charge_refundable": .bool(isInquiry), "balance_transactions": .list([]),
            "evidence_details": .object(["due_by": .number(time + 7 * 86_400)]),
        ])
        disputes.append(Plain(id: id, created: time, json: json))
        tell("charge.dispute.created", of: json, at: time)
        if !isInquiry { withdraw(disputes.count - 1, charge, at: time) }
    }

    /// Takes the money of a dispute.
    private mutating func withdraw(_ index: Int, _ charge: StandInCharge, at time: Int64) {
        let movement = move(
            "adjustment",
            -charge.amount,
            charge.currency,
            fee: Self.disputeFee,
            source: disputes[index].id,
            at: time
        )
        disputes[index].json = disputes[index].json.adding([
            "balance_transactions": .list([movement])
        ])
        tell("charge.dispute.funds_withdrawn", of: disputes[index].json, at: time)
    }

    /// Ends a dispute or an inquiry.
    ///
    /// - Throws: ``StandInError`` if there is no open one.
    mutating func endDispute(of payment: String, isWon: Bool, at time: Int64) throws(StandInError) {
        let place = try place(ofPayment: payment)
        guard let charge = payments[place].charge,
            let index = disputes.lastIndex(where: { $0.json[text: "payment_intent"] == payment }),
            let status = disputes[index].json[text: "status"],
            status.hasSuffix("needs_response")
        else { throw .invalid("There is no open dispute.") }
        let isInquiry = status.hasPrefix("warning_")
        let end = isInquiry ? "warning_closed" : isWon ? "won" : "lost"
        disputes[index].json = disputes[index].json.adding([
            "status": .text(end), "is_charge_refundable": .bool(isInquiry || isWon),
        ])
        if isInquiry { payments[place].charge?.isDisputed = false }
        if isWon, !isInquiry,
            case .object(let members) = disputes[index].json,
            case .list(let movements)? = members["balance_transactions"]
        {
            let back = move(
                "adjustment",
                charge.amount,
                charge.currency,
                fee: -Self.disputeFee,
                source: disputes[index].id,
                at: time
            )
            disputes[index].json = disputes[index].json.adding([
                "balance_transactions": .list(movements + [back])
            ])
            tell("charge.dispute.funds_reinstated", of: disputes[index].json, at: time)
        }
        tell("charge.dispute.closed", of: disputes[index].json, at: time)
    }
}
