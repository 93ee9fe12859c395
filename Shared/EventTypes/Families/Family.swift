/// Accounts of one app that share their purchases (rule S140 of docs/subscriptions.md).
///
/// `payments` publishes the whole family at each change. The higher ``version`` is the newer one.
public struct Family: Codable, Hashable, Sendable {
    /// The most members of a family, its organizer included.
    public static let membersMax = 6

    /// The identifier of the family.
    public var id: FamilyID
    /// The app in which its members buy.
    public var bundleID: BundleID
    /// The number of changes to the family, from 1.
    public var version: Int
    /// The member who stays as long as the family.
    public var organizer: AccountID
    /// All members in the order in which they joined, the organizer first; empty once the family
    /// has ended.
    public var members: [FamilyMember]
    /// The time at which the family was made.
    public var createdAt: StoreTime
    /// The time at which it ended; `nil` while it goes on.
    public var endedAt: StoreTime?

    /// Makes a family.
    public init(
        id: FamilyID,
        bundleID: BundleID,
        version: Int,
        organizer: AccountID,
        members: [FamilyMember],
        createdAt: StoreTime,
        endedAt: StoreTime? = nil
    ) {
        self.id = id
        self.bundleID = bundleID
        self.version = version
        self.organizer = organizer
        self.members = members
        self.createdAt = createdAt
        self.endedAt = endedAt
    }
}

/// An account in a family.
public struct FamilyMember: Codable, Hashable, Sendable {
    /// The account.
    public var accountID: AccountID
    /// Whether the others get what the account buys.
    public var isSharing: Bool
    /// The time at which the account joined.
    public var joinedAt: StoreTime

    /// Makes a member.
    public init(accountID: AccountID, isSharing: Bool = true, joinedAt: StoreTime) {
        self.accountID = accountID
        self.isSharing = isSharing
        self.joinedAt = joinedAt
    }
}
