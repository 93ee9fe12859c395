public import EventTypes

/// The whole catalog as one document, for import and export.
public struct CatalogDocument: Codable, Hashable, Sendable {
    /// The products, by identifier.
    public var products: [ProductID: ProductDraft]

    /// Makes a document.
    public init(products: [ProductID: ProductDraft]) { self.products = products }
}
