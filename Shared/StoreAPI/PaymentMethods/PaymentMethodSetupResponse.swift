/// The beginning of saving a payment method.
///
/// Answer of `POST /v1/payment-methods/setups`. The app hands the client secret to the processor's own
/// library, into which the buyer types the card. So no card number comes to the store.
public struct PaymentMethodSetupResponse: Codable, Hashable, Sendable {
    /// The id, with which the app completes the setup afterwards.
    public var id: String
    /// The text with which the app continues; nobody but this buyer gets it.
    public var clientSecret: String

    /// Makes an answer.
    public init(id: String, clientSecret: String) {
        self.id = id
        self.clientSecret = clientSecret
    }
}
