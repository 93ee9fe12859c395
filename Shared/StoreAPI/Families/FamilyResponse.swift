public import EventTypes

/// A family.
public struct FamilyResponse: Codable, Hashable, Sendable {
    /// The family; `nil` if the account that asks has none.
    public var family: Family?

    /// Makes a response.
    public init(family: Family?) { self.family = family }
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
