public import EventTypes

/// A product as one storefront shows it.
public struct ProductListing: Codable, Hashable, Sendable {
    /// The product's identifier.
    public var id: ProductID
    /// The product's version.
    public var version: Int
    /// Which of the four types it is.
    public var type: ProductType
    /// What one of it costs.
    public var price: Money
    /// The name shown to the buyer.
    public var title: String
    /// The sentence shown below it.
    public var description: String
    /// The language of the two, which may be a fallback of the one asked for.
    public var language: LanguageTag
    /// Whether the buyer's family may use it; the store itself shares nothing yet.
    public var isFamilyShareable: Bool

    /// Makes a listing.
    public init(
        id: ProductID,
        version: Int,
        type: ProductType,
        price: Money,
        title: String,
        description: String,
        language: LanguageTag,
        isFamilyShareable: Bool = false
    ) {
        self.id = id
        self.version = version
        self.type = type
        self.price = price
        self.title = title
        self.description = description
        self.language = language
        self.isFamilyShareable = isFamilyShareable
    }
}
