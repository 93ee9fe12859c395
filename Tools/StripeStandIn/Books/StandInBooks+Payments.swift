extension StandInBooks {
    /// The place of a payment in the list.
    ///
    /// - Throws: ``StandInError``
    func place(ofPayment id: String) throws(StandInError) -> Int {
        guard let place = place(of: id), payments[place].id == id else {
            throw .missing("payment_intent", id)
        }
        return place
    }

    /// Tries to pay.
    ///
    /// - Parameters:
    ///   - place: The place of the payment.
    ///   - isAway: Whether the buyer is not present.
    ///   - mayNotAct: Whether the payment fails if the buyer would have to act.
    ///   - time: The time in seconds since 1970.
    /// - Throws: ``StandInError``, with the payment as it is then.
    mutating func confirm(
        _ place: Int,
        isAway: Bool,
        mayNotAct: Bool,
        at time: Int64
    ) throws(StandInError) {
        guard let name = payments[place].paymentMethod else {
            throw .invalid("The payment has no payment method.", code: "parameter_missing")
        }
        let method = try method(name, of: payments[place].customer)
        switch method.card {
        case .declined(let code, let declineCode):
            throw decline(place, code: code, declineCode, at: time)
        case .needsAction where isAway || mayNotAct,
            .needsActionUnlessSetUp where (isAway || mayNotAct) && !method.isSetUp:
            throw decline(
                place,
                code: "authentication_required",
                "authentication_required",
                at: time
            )
        case .needsAction,
            .needsActionUnlessSetUp where !method.isSetUp || !isAway:
            payments[place].status = .requiresAction
            tell("payment_intent.requires_action", ofPayment: payments[place], at: time)
        case .processing:
            payments[place].status = .processing
            tell("payment_intent.processing", ofPayment: payments[place], at: time)
        case .declinedAway(let times)
        where isAway && (times ?? .max) > declinesAway[name, default: 0]:
            declinesAway[name, default: 0] += 1
            throw decline(place, code: "card_declined", "insufficient_funds", at: time)
        case .succeeds, .disputed, .refundFails, .refundWaits, .needsActionUnlessSetUp,
            .troubled, .declinedAway:
            if isAway { declinesAway[name] = nil }
            pay(place, at: time)
            if method.card == .disputed { try dispute(payments[place].id, at: time) }
        }
    }

    /// Lets a payment succeed.
    mutating func pay(_ place: Int, at time: Int64) {
        let charge = newCharge(place, isPaid: true, at: time)
        payments[place].status = .succeeded
        set(charge, of: place)
        payments[place].lastError = nil
        move("charge", charge.amount, charge.currency, source: charge.id, at: time)
        tell("charge.succeeded", of: charge.json, at: time)
        tell("payment_intent.succeeded", ofPayment: payments[place], at: time)
    }

    /// Lets a payment fail; it could be tried again with another payment method.
    ///
    /// - Returns: The error that says so.
    mutating func decline(
        _ place: Int,
        code: String,
        _ declineCode: String?,
        at time: Int64
    ) -> StandInError {
        let charge = newCharge(place, isPaid: false, at: time)
        var error = StandInError(
            status: 402,
            type: "card_error",
            code: code,
            declineCode: declineCode,
            message: "The card was declined."
        )
        payments[place].status = .requiresPaymentMethod
        payments[place].paymentMethod = nil
        set(charge, of: place)
        payments[place].lastError = error
        tell("charge.failed", of: charge.json, at: time)
        tell("payment_intent.payment_failed", ofPayment: payments[place], at: time)
        error.paymentIntent = payments[place].json(expandsCharge: false, pages: pages)
        return error
    }

    /// Gives a payment up.
    ///
    /// - Throws: ``StandInError`` if it cannot be given up any more.
    mutating func cancel(_ place: Int, at time: Int64) throws(StandInError) {
        let payment = payments[place]
        guard payment.isOpen, payment.status != .processing else {
            throw unexpected(place, "canceled")
        }
        payments[place].status = .canceled
        tell("payment_intent.canceled", ofPayment: payments[place], at: time)
    }

    /// The refusal of a change that a payment's state does not allow.
    func unexpected(_ place: Int, _ what: String) -> StandInError {
        let payment = payments[place]
        var error = StandInError.invalid(
            "This payment cannot be \(what), because its status is \(payment.status.rawValue).",
            code: "payment_intent_unexpected_state"
        )
        error.paymentIntent = payment.json(expandsCharge: false, pages: pages)
        return error
    }

    /// Finds a payment method that a buyer may pay with.
    ///
    /// - Throws: ``StandInError``
    func method(_ name: String, of customer: String?) throws(StandInError) -> Method {
        if let card = TestCard(name: name) { return Method(id: name, card: card) }
        guard let method = methods[name] else {
            throw .invalid(
                "No such PaymentMethod: '\(name)'",
                code: "resource_missing",
                "payment_method"
            )
        }
        guard method.customer == customer else {
            throw .invalid("The payment method belongs to another customer.", "payment_method")
        }
        return method
    }

    private mutating func newCharge(_ place: Int, isPaid: Bool, at time: Int64) -> StandInCharge {
        let payment = payments[place]
        return StandInCharge(
            id: id("ch"),
            created: time,
            payment: payment.id,
            amount: payment.amount,
            currency: payment.currency,
            isPaid: isPaid,
            metadata: payment.metadata
        )
    }
}
