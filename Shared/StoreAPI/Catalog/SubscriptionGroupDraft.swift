public import EventTypes

/// An administrator's description of a subscription group.
///
/// The catalog adds the id and the version.
public struct SubscriptionGroupDraft: Codable, Hashable, Sendable {
    /// The name in each language, at least one.
    public var localizations: [LanguageTag: SubscriptionGroupText]

    /// Makes a draft.
    public init(localizations: [LanguageTag: SubscriptionGroupText]) {
        self.localizations = localizations
    }
}
