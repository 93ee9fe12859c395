extension StripeClient {
    /// Charges a buyer.
    ///
    /// - Returns: The payment. Only ``StripePaymentIntent/Status/succeeded`` means that the buyer
    ///   has paid.
    /// - Throws: ``StripeFailure``
    package func createPaymentIntent(
        _ request: PaymentIntentRequest,
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripePaymentIntent {
        try await send(.post("/v1/payment_intents", request.parameters, key: key))
    }

    /// Reads a payment as it is now.
    ///
    /// - Throws: ``StripeFailure``
    package func paymentIntent(_ id: String) async throws(StripeFailure) -> StripePaymentIntent {
        try await send(.get(try Self.path("payment_intents", id)))
    }

    /// Changes texts of a payment; the others stay as they are.
    ///
    /// - Throws: ``StripeFailure``
    package func updatePaymentIntent(
        _ id: String,
        metadata: [String: String],
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripePaymentIntent {
        var form = FormParameters()
        form.add("metadata", metadata)
        return try await send(.post(try Self.path("payment_intents", id), form, key: key))
    }

    /// Gives a payment up, so that it can no longer be made.
    ///
    /// - Throws: ``StripeFailure``, with the kind `stateForbids` if it was made already.
    package func cancelPaymentIntent(
        _ id: String,
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripePaymentIntent {
        try await send(.post(try Self.path("payment_intents", id) + "/cancel", key: key))
    }

    /// Gives money back, all of a payment or a part.
    ///
    /// - Throws: ``StripeFailure``
    package func createRefund(
        of paymentIntent: String,
        _ amount: ProcessorAmount,
        metadata: [String: String],
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripeRefund {
        var form = FormParameters()
        form.add("payment_intent", paymentIntent)
        form.add("amount", amount.wire)
        form.add("metadata", metadata)
        return try await send(.post("/v1/refunds", form, key: key))
    }

    /// Reads a refund as it is now.
    ///
    /// - Throws: ``StripeFailure``
    package func refund(_ id: String) async throws(StripeFailure) -> StripeRefund {
        try await send(.get(try Self.path("refunds", id)))
    }

    /// Reads a dispute as it is now, with the payment that it is about.
    ///
    /// - Throws: ``StripeFailure``
    package func dispute(_ id: String) async throws(StripeFailure) -> StripeDispute {
        var form = FormParameters()
        form.add("expand", ["payment_intent"])
        return try await send(.get(try Self.path("disputes", id), form))
    }

    /// Makes a customer, to whom payment methods can be saved.
    ///
    /// - Throws: ``StripeFailure``
    package func createCustomer(
        metadata: [String: String],
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripeCustomer {
        var form = FormParameters()
        form.add("metadata", metadata)
        return try await send(.post("/v1/customers", form, key: key))
    }

    /// Begins to save a payment method for charges at which the buyer is away.
    ///
    /// The buyer's app continues with the client secret, so that no card number comes here.
    ///
    /// - Throws: ``StripeFailure``
    package func createSetupIntent(
        customer: String,
        metadata: [String: String],
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripeSetupIntent {
        var form = FormParameters()
        form.add("customer", customer)
        form.add("usage", "off_session")
        form.add("allowed_payment_method_types", ["card"])
        form.add("metadata", metadata)
        return try await send(.post("/v1/setup_intents", form, key: key))
    }

    /// Reads a setup intent as it is now.
    ///
    /// - Throws: ``StripeFailure``
    package func setupIntent(_ id: String) async throws(StripeFailure) -> StripeSetupIntent {
        try await send(.get(try Self.path("setup_intents", id)))
    }

    /// Reads a payment method as it is now.
    ///
    /// - Throws: ``StripeFailure``
    package func paymentMethod(_ id: String) async throws(StripeFailure) -> StripePaymentMethod {
        try await send(.get(try Self.path("payment_methods", id)))
    }

    /// Removes a payment method from its buyer, so that it can never be charged again.
    ///
    /// - Throws: ``StripeFailure``
    package func detachPaymentMethod(
        _ id: String,
        key: StripeIdempotencyKey
    ) async throws(StripeFailure) -> StripePaymentMethod {
        try await send(.post(try Self.path("payment_methods", id) + "/detach", key: key))
    }

    /// The path of one object.
    ///
    /// Ids come from tables and from webhooks. One with a slash would call something else.
    private static func path(_ kind: String, _ id: String) throws(StripeFailure) -> String {
        guard !id.isEmpty, id.utf8.count <= 255,
            id.utf8.allSatisfy({
                $0 == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
            })
        else { throw StripeFailure(.missing) }
        return "/v1/\(kind)/\(id)"
    }
}
