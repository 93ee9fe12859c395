/// A response with the hosted content of the requested products.
///
/// An app's products request combines it with the catalog's response (`SKProduct.isDownloadable`).
public struct OfferedContentsResponse: Codable, Hashable, Sendable {
    /// The contents by product.
    ///
    /// A product without content is missing.
    public var contents: [OfferedContent]
    /// Makes a response.
    public init(contents: [OfferedContent]) { self.contents = contents }
}
