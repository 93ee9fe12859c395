import EventTypes

/// Families as they are printed.
enum FamilyReport {
    /// A family in one line.
    static func line(_ family: Family) -> String {
        let others = family.members.map(\.accountID).filter { $0 != family.organizer }
        let members =
            family.endedAt.map { "ended \($0)" }
            ?? "with \(others.map(\.rawValue).joined(separator: ", "))"
        return "\(family.id): \(family.organizer) \(members), in \(family.bundleID)"
    }

    /// A family with a line for each member.
    static func lines(of family: Family) -> [String] {
        [
            "family    \(family.id)", "app       \(family.bundleID)",
            "made      \(family.createdAt)",
        ] + (family.endedAt.map { ["ended     \($0)"] } ?? [])
            + family.members.map { member in
                let role = member.accountID == family.organizer ? ", organizer" : ""
                let sharing = member.isSharing ? "" : ", shares nothing"
                return "member    \(member.accountID) since \(member.joinedAt)\(role)\(sharing)"
            }
    }

    /// A line about the members of whom the store knows nothing else; `nil` if there are none.
    static func line(about strangers: [AccountID]) -> String? {
        guard !strangers.isEmpty else { return nil }
        let names = strangers.map(\.rawValue).joined(separator: ", ")
        return "unknown   \(names): nothing is known of them but this family. Are the ids right?"
    }
}
