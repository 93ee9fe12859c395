/// The place of a subscription in its group, and the length of its periods.
public struct SubscriptionTerms: Codable, Hashable, Sendable {
    /// The group, which never changes.
    public var groupID: SubscriptionGroupID
    /// The rank in the group; 1 is the highest service.
    ///
    /// Several products of a group may have the same level.
    public var level: Int
    /// The length of one paid period, which never changes.
    public var period: SubscriptionPeriod

    /// Makes terms.
    public init(groupID: SubscriptionGroupID, level: Int, period: SubscriptionPeriod) {
        self.groupID = groupID
        self.level = level
        self.period = period
    }
}
