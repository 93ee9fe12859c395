/// What an administrator says of where an app's server wants to be told
/// (`PUT /v1/admin/apps/{bundle}/notification-endpoint`), and the answer.
public struct NotificationEndpointDocument: Codable, Hashable, Sendable {
    /// An absolute http or https URL; in Production https.
    public var url: String

    /// Makes a document.
    public init(url: String) { self.url = url }
}
