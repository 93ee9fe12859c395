public import EventTypes

extension Routes {
    /// `payments`: the family of the account.
    ///
    /// `GET`.
    public static let family = "/v1/family"
    /// `payments`: leave the family of the account.
    ///
    /// `POST`. Repeating it changes nothing.
    public static let familyLeave = "/v1/family/leave"
    /// `payments`, administrators: families, in pages.
    ///
    /// `GET ?bundleID=&account=&after=`, with the `next` of the previous page; `POST` makes one.
    /// Append an id for one.
    public static let adminFamilies = "/v1/admin/families"

    /// `payments`, administrators: one family.
    ///
    /// `GET`.
    public static func adminFamily(_ id: FamilyID) -> String { "\(adminFamilies)/\(id)" }
    /// `payments`, administrators: one member of a family.
    ///
    /// `PUT` adds the account, or decides whether it shares.
    public static func familyMember(_ account: AccountID, of id: FamilyID) -> String {
        "\(adminFamily(id))/members/\(percentEncoded(account.rawValue))"
    }
    /// `payments`, administrators: take a member out of a family.
    ///
    /// `POST`.
    public static func familyRemoval(of account: AccountID, from id: FamilyID) -> String {
        "\(familyMember(account, of: id))/removal"
    }
    /// `payments`, administrators: end a family.
    ///
    /// `POST`.
    public static func familyEnd(_ id: FamilyID) -> String { "\(adminFamily(id))/end" }
}
