/// What is hosted for the products of a request: what the products request of an app joins with the
/// catalog's answer (`SKProduct.isDownloadable`).
public struct OfferedContentsResponse: Codable, Hashable, Sendable {
    /// The contents, by product; a product that is not here has none.
    public var contents: [OfferedContent]
    /// Makes an answer.
    public init(contents: [OfferedContent]) { self.contents = contents }
}
