public import EventTypes

/// An administrator's request for a family.
///
/// Body of `POST /v1/admin/families`. Repeating it gets the same family.
public struct FamilyRequest: Codable, Hashable, Sendable {
    /// The app in which the members buy.
    public var bundleID: BundleID
    /// The member who stays as long as the family.
    public var organizer: AccountID
    /// The other members, from one to five.
    public var members: [AccountID]
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(
        bundleID: BundleID,
        organizer: AccountID,
        members: [AccountID],
        reason: ActReason? = nil
    ) {
        self.bundleID = bundleID
        self.organizer = organizer
        self.members = members
        self.reason = reason
    }
}

/// An administrator's decision about one member of a family.
///
/// Body of `PUT /v1/admin/families/{id}/members/{account}`. An account that is no member joins.
public struct FamilyMemberRequest: Codable, Hashable, Sendable {
    /// Whether the others get what the member buys; unchanged if it is `nil`, and `true` for a new
    /// member.
    public var isSharing: Bool?
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(isSharing: Bool? = nil, reason: ActReason? = nil) {
        self.isSharing = isSharing
        self.reason = reason
    }
}

/// An administrator's decision that a member leaves, or that a family ends.
///
/// Body of `POST /v1/admin/families/{id}/members/{account}/removal` and
/// `POST /v1/admin/families/{id}/end`.
public struct FamilyEndRequest: Codable, Hashable, Sendable {
    /// The administrator's reason.
    public var reason: ActReason?

    /// Makes a request.
    public init(reason: ActReason? = nil) { self.reason = reason }
}
