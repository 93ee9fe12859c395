/// The text of a subscription group in one language.
public struct SubscriptionGroupText: Codable, Hashable, Sendable {
    /// The localized name of the group.
    public var name: String

    /// Makes a text.
    public init(name: String) { self.name = name }
}
