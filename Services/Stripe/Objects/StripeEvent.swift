/// A change that Stripe tells of, by a webhook or in the list of events.
///
/// It says which object changed. Its copy of the object may be old, so the object is fetched.
/// An event whose object has no id is about the whole account. It changes nothing of the store's,
/// so whoever reads events skips it.
package struct StripeEvent: Hashable, Sendable, Decodable {
    /// The id, `evt_…`, the same in every delivery.
    package var id: String
    /// The kind, such as `payment_intent.succeeded`.
    package var type: String
    /// The time, in seconds since 1970.
    package var created: Int64
    /// Whether it is about real money.
    package var isLive: Bool
    /// The object that changed.
    package var data: Subject

    /// The object that changed.
    package struct Subject: Hashable, Sendable, Decodable {
        /// Its id and its kind.
        package var object: Head
    }

    /// The head of an object.
    package struct Head: Hashable, Sendable, Decodable {
        /// The id; `nil` if it is none of many, such as the balance in `balance.available`.
        package var id: String?
        /// The kind, such as `payment_intent`.
        package var object: String
        /// The payment that it belongs to, if it is a refund, a charge or a dispute.
        package var paymentIntent: StripeReference?
        /// The texts that the store gave it; `attempt` says whose it is.
        package var metadata: [String: String]?

        enum CodingKeys: String, CodingKey {
            case id, object, metadata
            case paymentIntent = "payment_intent"
        }
    }

    enum CodingKeys: String, CodingKey {
        case id, type, created, data
        case isLive = "livemode"
    }
}
