public import EventTypes

/// The answer to a products request (spec rules 98 and 99): the request's identifiers, parted into
/// those that can be bought and those that cannot; or a page of everything that is on sale.
public struct ProductsResponse: Codable, Hashable, Sendable {
    /// The storefront that the prices are of.
    public var storefront: Storefront
    /// The products that can be bought there: in the order of the request, or of their identifiers.
    public var products: [ProductListing]
    /// The identifiers of the request that cannot: unknown, off sale, or not sold there.
    public var invalidProductIDs: [String]
    /// After which product the next page begins; `nil` on the last, and if identifiers were asked for.
    public var next: ProductID?

    /// Makes an answer.
    public init(
        storefront: Storefront,
        products: [ProductListing],
        invalidProductIDs: [String],
        next: ProductID? = nil
    ) {
        self.storefront = storefront
        self.products = products
        self.invalidProductIDs = invalidProductIDs
        self.next = next
    }
}

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

/// What an administrator says of a product; its id and version are the catalog's business.
public struct ProductDraft: Codable, Hashable, Sendable {
    /// Which of the four types it is; never changes once created.
    public var type: ProductType
    /// Whether it can be bought.
    public var isOnSale: Bool?
    /// Whether a finished purchase can be restored; by default the type decides.
    public var isRestorable: Bool?
    /// Whether the buyer's family may use it; `false` unless said.
    public var isFamilyShareable: Bool?
    /// What one of it costs, per storefront.
    public var prices: [Storefront: Money]
    /// Its title and description, per language.
    public var localizations: [LanguageTag: ProductText]
    /// Where a purchase has to be delivered to; by default the type decides.
    public var deliveryPlan: [DeliveryTarget]?

    /// Makes a draft.
    public init(
        type: ProductType,
        isOnSale: Bool? = nil,
        isRestorable: Bool? = nil,
        isFamilyShareable: Bool? = nil,
        prices: [Storefront: Money],
        localizations: [LanguageTag: ProductText],
        deliveryPlan: [DeliveryTarget]? = nil
    ) {
        self.type = type
        self.isOnSale = isOnSale
        self.isRestorable = isRestorable
        self.isFamilyShareable = isFamilyShareable
        self.prices = prices
        self.localizations = localizations
        self.deliveryPlan = deliveryPlan
    }
}

/// The whole catalog as one document, for import and export.
public struct CatalogDocument: Codable, Hashable, Sendable {
    /// The products, by identifier.
    public var products: [ProductID: ProductDraft]

    /// Makes a document.
    public init(products: [ProductID: ProductDraft]) { self.products = products }
}

/// What an import did.
public struct CatalogImportResult: Codable, Hashable, Sendable {
    /// How many products are new.
    public var created: Int
    /// How many changed.
    public var changed: Int
    /// How many were as they are already.
    public var unchanged: Int

    /// Makes a result.
    public init(created: Int, changed: Int, unchanged: Int) {
        self.created = created
        self.changed = changed
        self.unchanged = unchanged
    }
}
