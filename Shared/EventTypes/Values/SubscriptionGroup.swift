/// One version of the names of a subscription group, as the catalog publishes it.
///
/// A group exists as soon as a product names it. Until it is named, it has its id only.
public struct SubscriptionGroup: Codable, Hashable, Sendable {
    /// The group's identifier.
    public var id: SubscriptionGroupID
    /// The number of changes to this group, from 1.
    ///
    /// The higher version wins.
    public var version: Int
    /// The name in each language, at least one.
    public var localizations: [LanguageTag: SubscriptionGroupText]

    /// Makes a group.
    public init(
        id: SubscriptionGroupID,
        version: Int,
        localizations: [LanguageTag: SubscriptionGroupText]
    ) {
        self.id = id
        self.version = version
        self.localizations = localizations
    }
}
