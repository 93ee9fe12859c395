/// A payment, in the states of Stripe's API.
package struct StripePaymentIntent: Hashable, Sendable, Decodable {
    /// The states.
    package enum Status: Hashable, Sendable {
        case requiresPaymentMethod, requiresConfirmation, requiresAction, processing
        case requiresCapture, canceled, succeeded
        /// A state that this version of the store does not know. The outcome is open.
        case other(String)
    }

    /// The step that the buyer must take.
    package struct NextAction: Hashable, Sendable, Decodable {
        /// The kind of step, such as `redirect_to_url`.
        package var type: String
        /// The page of the bank, if the buyer is to be sent there.
        package var redirect: Redirect?

        enum CodingKeys: String, CodingKey {
            case type
            case redirect = "redirect_to_url"
        }

        /// A page to send the buyer to.
        package struct Redirect: Hashable, Sendable, Decodable {
            /// The address of the page.
            package var url: String?
        }
    }

    /// The id, `pi_…`.
    package var id: String
    /// The state.
    package var status: Status
    /// The amount that was asked for, in Stripe's unit.
    package var amount: Int64
    /// The amount that was paid, in Stripe's unit.
    package var amountReceived: Int64?
    /// The currency in lower case.
    package var currency: String
    /// The time of creation, in seconds since 1970.
    package var created: Int64
    /// Whether it moves real money.
    package var isLive: Bool
    /// The texts that the store gave it; `attempt` says whose it is.
    package var metadata: [String: String]
    /// The buyer who pays it.
    package var customer: StripeReference?
    /// The charge that paid it, or the last that failed.
    package var latestCharge: StripeReference?
    /// The text with which its buyer's app continues it, and which nobody else is told.
    package var clientSecret: StripeSecret?
    /// The step that the buyer must take.
    package var nextAction: NextAction?
    /// The error of the last try to pay.
    package var lastPaymentError: StripeErrorBody?

    /// The amount that was asked for.
    package var asked: ProcessorAmount { ProcessorAmount(wire: amount, currency: currency) }
    /// The amount that was paid.
    package var received: ProcessorAmount {
        ProcessorAmount(wire: amountReceived ?? 0, currency: currency)
    }

    enum CodingKeys: String, CodingKey {
        case id, status, amount, currency, created, metadata, customer
        case amountReceived = "amount_received"
        case isLive = "livemode"
        case latestCharge = "latest_charge"
        case clientSecret = "client_secret"
        case nextAction = "next_action"
        case lastPaymentError = "last_payment_error"
    }
}

extension StripePaymentIntent.Status: Decodable {
    /// Recognises a state; an unknown one is kept.
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self =
            switch text {
            case "requires_payment_method": .requiresPaymentMethod
            case "requires_confirmation": .requiresConfirmation
            case "requires_action": .requiresAction
            case "processing": .processing
            case "requires_capture": .requiresCapture
            case "canceled": .canceled
            case "succeeded": .succeeded
            default: .other(text)
            }
    }
}
