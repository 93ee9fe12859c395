/// A response with the versions of a product's hosted content, for administrators.
public struct HostedContentsResponse: Codable, Hashable, Sendable {
    /// The versions, newest first.
    public var contents: [HostedContentVersion]
    /// Makes a response.
    public init(contents: [HostedContentVersion]) { self.contents = contents }
}
