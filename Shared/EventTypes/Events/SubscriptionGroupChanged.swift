/// `subscription-group.changed.v1`: the names of a subscription group were given or changed.
public struct SubscriptionGroupChanged: Event, Hashable {
    /// The whole group at its new version.
    public var group: SubscriptionGroup
    /// The administrator who changed it.
    public var changedBy: String

    /// Makes the event.
    public init(group: SubscriptionGroup, changedBy: String) {
        self.group = group
        self.changedBy = changedBy
    }

    /// The key of the event's messages: `group:` and the group's id.
    ///
    /// No product's id has a colon. So no message of a group replaces a product in the compacted
    /// topic.
    public static func key(of group: SubscriptionGroupID) -> String { "group:\(group)" }
}
