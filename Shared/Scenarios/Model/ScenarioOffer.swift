public import EventTypes

/// An offer of a product that renews, which has a name.
///
/// The introductory offer has none.
public struct ScenarioOffer: Hashable, Sendable {
    /// The kind of an offer, which decides who has it.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// An offer that the merchant's server signs for a payment.
        case promotional
        /// An offer for whoever redeems a code.
        case code
        /// An offer for those whose subscription has ended.
        case winBack
    }

    /// The name in the file, which is also its id in the store.
    public let name: String
    /// The kind.
    public let kind: Kind
    /// The mode, the length and the price.
    public let terms: OfferTerms
}
