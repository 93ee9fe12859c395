import EventTypes

/// A reason for which a family is not made or changed.
enum FamilyRefusal: Error, Hashable, Sendable {
    /// There is no such family.
    case unknown
    /// The organizer would be alone.
    case tooSmall
    /// It would have more members than a family may have.
    case tooLarge(max: Int)
    /// The request names an account twice, or the organizer among the other members.
    case repeated(AccountID)
    /// The account is a member of another family of this app.
    case inAnotherFamily(AccountID)
    /// The account is no member.
    case memberUnknown(AccountID)
    /// The organizer stays as long as the family.
    case organizerStays
    /// The family has ended.
    case ended
}
