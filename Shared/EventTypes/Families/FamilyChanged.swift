/// `family.changed.v1`: a family was made, has other members, or has ended.
public struct FamilyChanged: Event, Hashable {
    /// The whole family at its new version.
    public var family: Family
    /// The act of the administrator who changed it; `nil` if a member left by itself.
    public var act: Act?
    /// Makes the event.
    public init(family: Family, act: Act? = nil) {
        self.family = family
        self.act = act
    }
}
