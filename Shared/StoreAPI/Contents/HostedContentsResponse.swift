/// The versions of a product's hosted content, as administrators see them.
public struct HostedContentsResponse: Codable, Hashable, Sendable {
    /// The versions, the youngest first.
    public var contents: [HostedContentVersion]
    /// Makes an answer.
    public init(contents: [HostedContentVersion]) { self.contents = contents }
}
