public import EventTypes

/// A family.
public struct FamilyResponse: Codable, Hashable, Sendable {
    /// The family; `nil` if the account that asks has none.
    public var family: Family?
    /// The members of whom the store knows nothing but their family, so that an administrator sees an id
    /// that is mistyped; `nil` if there are none, in an answer to a member, and in the answer to a change
    /// if they could not be read after it.
    public var strangers: [AccountID]?

    /// Makes a response.
    public init(family: Family?, strangers: [AccountID]? = nil) {
        self.family = family
        self.strangers = strangers
    }
}

/// A page of families, the oldest first.
public struct FamiliesResponse: Codable, Hashable, Sendable {
    /// The families.
    public var families: [Family]
    /// The `after` of the next page; `nil` if this is the last.
    public var next: FamilyID?

    /// Makes a page.
    public init(families: [Family], next: FamilyID? = nil) {
        self.families = families
        self.next = next
    }
}
