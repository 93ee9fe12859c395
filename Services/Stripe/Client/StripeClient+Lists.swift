package import EventTypes

extension StripeClient {
    /// A page of a customer's payments, or of all customers' if none is named, newest first.
    ///
    /// - Throws: ``StripeFailure``
    package func paymentIntents(
        ofCustomer customer: String?,
        _ request: StripeListRequest
    ) async throws(StripeFailure) -> StripePage<StripePaymentIntent> {
        var form = request.parameters
        form.add("customer", customer)
        return try await send(.get("/v1/payment_intents", form))
    }

    /// A page of the refunds of a payment, newest first.
    ///
    /// - Throws: ``StripeFailure``
    package func refunds(
        of paymentIntent: String,
        _ request: StripeListRequest = StripeListRequest()
    ) async throws(StripeFailure) -> StripePage<StripeRefund> {
        var form = request.parameters
        form.add("payment_intent", paymentIntent)
        return try await send(.get("/v1/refunds", form))
    }

    /// A page of events, newest first.
    ///
    /// Stripe keeps them for 30 days. Events of the whole account, whose objects have no id, are
    /// among them: the next page begins after the last event, whatever it is about.
    ///
    /// - Throws: ``StripeFailure``
    package func events(
        _ request: StripeListRequest
    ) async throws(StripeFailure) -> StripePage<StripeEvent> {
        try await send(.get("/v1/events", request.parameters))
    }

    /// A page of the movements of the balance with what caused them, newest first.
    ///
    /// - Throws: ``StripeFailure``
    package func balanceTransactions(
        _ request: StripeListRequest
    ) async throws(StripeFailure) -> StripePage<StripeBalanceTransaction> {
        var form = request.parameters
        form.add("expand", ["data.source"])
        return try await send(.get("/v1/balance_transactions", form))
    }

    /// The money that Stripe has of the account.
    ///
    /// - Throws: ``StripeFailure``
    package func balance() async throws(StripeFailure) -> StripeBalance {
        try await send(.get("/v1/balance"))
    }

    /// Finds what was done for an attempt whose reference is not known.
    ///
    /// - Parameters:
    ///   - attempt: The id in `metadata[attempt]`.
    ///   - customer: The buyer at Stripe.
    ///   - firstCalled: The time of the first call. The search begins an hour before, because the
    ///     clock of the machine that called, this machine's and Stripe's differ. It finds no more
    ///     for that: the list is this customer's, and only the attempt's payments are kept.
    /// - Returns: All payments with the id, oldest first; none if Stripe has not begun with one.
    /// - Throws: ``StripeFailure``
    package func paymentIntents(
        ofAttempt attempt: String,
        customer: String,
        firstCalled: MachineTime
    ) async throws(StripeFailure) -> [StripePaymentIntent] {
        try await paymentIntents(ofCustomer: customer, calledFrom: firstCalled) {
            $0.metadata["attempt"] == attempt
        }
    }

    /// Finds payments of a buyer.
    ///
    /// - Parameters:
    ///   - customer: The buyer at Stripe.
    ///   - time: The time of the first call that can have made one. The search begins an hour before.
    ///   - isMeant: Whether a payment is one of those that are looked for.
    /// - Returns: The payments, oldest first.
    /// - Throws: ``StripeFailure``
    package func paymentIntents(
        ofCustomer customer: String,
        calledFrom time: MachineTime,
        where isMeant: (StripePaymentIntent) -> Bool
    ) async throws(StripeFailure) -> [StripePaymentIntent] {
        var request = StripeListRequest(from: time.advanced(by: .seconds(-3600)))
        var found: [StripePaymentIntent] = []
        while true {
            let page = try await paymentIntents(ofCustomer: customer, request)
            found += page.data.filter(isMeant)
            guard page.hasMore, let last = page.data.last else { return found.reversed() }
            request.after = last.id
        }
    }
}
