public import EventTypes

/// The offer that a buyer was shown with the price of a subscription.
public struct ShownOffer: Codable, Hashable, Sendable {
    /// The kind of the offer.
    public var type: OfferType
    /// The id of the offer; `nil` for an introductory one.
    public var id: OfferID?
    /// The terms that the buyer saw; `nil` if only the offer itself matters.
    public var terms: OfferListing?

    /// Makes a description of an offer.
    public init(type: OfferType, id: OfferID? = nil, terms: OfferListing? = nil) {
        self.type = type
        self.id = id
        self.terms = terms
    }
}
