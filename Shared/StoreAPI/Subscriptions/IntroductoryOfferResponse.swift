public import EventTypes

/// A response that says whether an account may have the introductory offer of a subscription group.
public struct IntroductoryOfferResponse: Codable, Hashable, Sendable {
    /// The group.
    public var groupID: SubscriptionGroupID
    /// Whether a purchase would get the offer of its product now.
    ///
    /// The purchase decides again.
    public var isEligible: Bool

    /// Makes a response.
    public init(groupID: SubscriptionGroupID, isEligible: Bool) {
        self.groupID = groupID
        self.isEligible = isEligible
    }
}
