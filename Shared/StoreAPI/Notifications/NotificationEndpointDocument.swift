/// The endpoint that receives the notifications of an app.
///
/// It is both the request and the response of `PUT /v1/admin/apps/{bundle}/notification-endpoint`.
public struct NotificationEndpointDocument: Codable, Hashable, Sendable {
    /// An absolute http or https URL.
    ///
    /// In production it must be https.
    public var url: String

    /// Makes a document.
    public init(url: String) { self.url = url }
}
