/// A buyer, as Stripe knows one: the owner of saved payment methods.
package struct StripeCustomer: Hashable, Sendable, Decodable {
    /// The id, `cus_…`.
    package var id: String
    /// The texts that the store gave it.
    package var metadata: [String: String]?
}
