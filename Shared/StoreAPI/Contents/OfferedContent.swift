public import EventTypes

/// The content that a purchase of a product would currently download.
public struct OfferedContent: Codable, Hashable, Sendable {
    /// The product.
    public var productID: ProductID
    /// The version of the content.
    public var version: ContentVersion
    /// The length in bytes.
    public var length: Int64
    /// Makes a description of content.
    public init(productID: ProductID, version: ContentVersion, length: Int64) {
        self.productID = productID
        self.version = version
        self.length = length
    }
}
