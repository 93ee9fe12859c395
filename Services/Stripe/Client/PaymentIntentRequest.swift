/// A payment that Stripe is to make and to confirm in one call.
package struct PaymentIntentRequest: Hashable, Sendable {
    /// The presence of the buyer.
    package enum Session: Hashable, Sendable {
        /// The buyer is present, and comes back to this address from the bank's page.
        case present(returnURL: String)
        /// The buyer is away: a renewal, which fails if the buyer would have to act.
        case away
    }

    /// The amount.
    package var amount: ProcessorAmount
    /// The buyer at Stripe.
    package var customer: String
    /// The saved payment method, or one that the app made.
    package var paymentMethod: String
    /// The presence of the buyer.
    package var session: Session
    /// The store's own texts; `attempt` must be among them, so that an inquiry finds the payment.
    package var metadata: [String: String]
    /// Text for the buyer's statement, after the merchant's name.
    package var statementSuffix: String?

    /// Makes a request.
    package init(
        amount: ProcessorAmount,
        customer: String,
        paymentMethod: String,
        session: Session,
        metadata: [String: String],
        statementSuffix: String? = nil
    ) {
        self.amount = amount
        self.customer = customer
        self.paymentMethod = paymentMethod
        self.session = session
        self.metadata = metadata
        self.statementSuffix = statementSuffix
    }

    /// The parameters of the call.
    var parameters: FormParameters {
        var form = FormParameters()
        form.add("amount", amount.wire)
        form.add("currency", amount.currency)
        form.add("customer", customer)
        form.add("payment_method", paymentMethod)
        form.add("confirm", true)
        switch session {
        case .present(let returnURL):
            form.add("return_url", returnURL)
        case .away:
            form.add("off_session", true)
            form.add("error_on_requires_action", true)
        }
        // Without it the account's settings might offer methods that are paid days later.
        form.add("allowed_payment_method_types", ["card"])
        form.add("statement_descriptor_suffix", statementSuffix)
        form.add("metadata", metadata)
        return form
    }
}
