public import EventTypes

/// What is hosted for the products of a request: what the products request of an app joins with the
/// catalog's answer (`SKProduct.isDownloadable`).
public struct OfferedContentsResponse: Codable, Hashable, Sendable {
    /// The contents, by product; a product that is not here has none.
    public var contents: [OfferedContent]
    /// Makes an answer.
    public init(contents: [OfferedContent]) { self.contents = contents }
}

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

/// The versions of a product's hosted content, as administrators see them.
public struct HostedContentsResponse: Codable, Hashable, Sendable {
    /// The versions, the youngest first.
    public var contents: [HostedContentVersion]
    /// Makes an answer.
    public init(contents: [HostedContentVersion]) { self.contents = contents }
}

/// One version of a product's hosted content.
public struct HostedContentVersion: Codable, Hashable, Sendable {
    /// The version.
    public var version: ContentVersion
    /// How many bytes it has.
    public var length: Int64
    /// SHA-256 of its bytes.
    public var sha256: ContentDigest
    /// When it was uploaded first.
    public var createdAt: Timestamp
    /// Since when no new purchase gets it; `nil` while purchases may.
    public var withdrawnAt: Timestamp?
    /// Makes a version.
    public init(
        version: ContentVersion,
        length: Int64,
        sha256: ContentDigest,
        createdAt: Timestamp,
        withdrawnAt: Timestamp? = nil
    ) {
        self.version = version
        self.length = length
        self.sha256 = sha256
        self.createdAt = createdAt
        self.withdrawnAt = withdrawnAt
    }
}
