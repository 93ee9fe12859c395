public import EventTypes

/// A request to extend all subscribers of a product, and how far it has come.
public struct MassExtensionResponse: Codable, Hashable, Sendable {
    /// The request.
    public var request: MassExtension

    /// Makes an answer.
    public init(request: MassExtension) {
        self.request = request
    }
}
