public import EventTypes

/// What a purchase of a product would download, if it were made at present.
public struct OfferedContent: Codable, Hashable, Sendable {
    /// The product.
    public var productID: ProductID
    /// The version of its content.
    public var version: ContentVersion
    /// How many bytes it has.
    public var length: Int64
    /// Makes a description of content.
    public init(productID: ProductID, version: ContentVersion, length: Int64) {
        self.productID = productID
        self.version = version
        self.length = length
    }
}
