import EventTypes

/// The rules of who is in a family (rule S140 of docs/subscriptions.md).
///
/// Pure.
enum FamilyRules {
    /// The effect of a request on a family.
    enum Verdict: Hashable, Sendable {
        case refused(FamilyRefusal)
        /// The family is so already.
        case unchanged(Family)
        case changed(Family)
    }

    /// Judges a request for a family.
    ///
    /// - Parameters:
    ///   - id: The id of a new family.
    ///   - organizer: Its organizer.
    ///   - others: The other members.
    ///   - bundleID: The app.
    ///   - families: The families in which these accounts are now.
    ///   - time: The present.
    /// - Returns: The family; `.unchanged` if the organizer has exactly this one.
    static func creating(
        _ id: FamilyID,
        of organizer: AccountID,
        with others: [AccountID],
        in bundleID: BundleID,
        besides families: [AccountID: Family],
        at time: StoreTime
    ) -> Verdict {
        let accounts = [organizer] + others
        var seen: Set<AccountID> = []
        for account in accounts where !seen.insert(account).inserted {
            return .refused(.repeated(account))
        }
        guard accounts.count > 1 else { return .refused(.tooSmall) }
        guard accounts.count <= Family.membersMax else {
            return .refused(.tooLarge(max: Family.membersMax))
        }
        if let same = families[organizer], same.organizer == organizer,
            Set(same.members.map(\.accountID)) == seen
        {
            return .unchanged(same)
        }
        for account in accounts where families[account] != nil {
            return .refused(.inAnotherFamily(account))
        }
        return .changed(
            Family(
                id: id,
                bundleID: bundleID,
                version: 1,
                organizer: organizer,
                members: accounts.map { FamilyMember(accountID: $0, joinedAt: time) },
                createdAt: time
            )
        )
    }

    /// Judges the wish that an account is a member, and shares or not.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - isSharing: Whether it shares; `nil` leaves a member as it is.
    ///   - family: The family.
    ///   - other: The family in which the account is now.
    ///   - time: The present.
    /// - Returns: The family with the account in it.
    static func including(
        _ account: AccountID,
        sharing isSharing: Bool?,
        in family: Family,
        besides other: Family?,
        at time: StoreTime
    ) -> Verdict {
        guard family.endedAt == nil else { return .refused(.ended) }
        var changed = family
        if let index = family.members.firstIndex(where: { $0.accountID == account }) {
            changed.members[index].isSharing = isSharing ?? family.members[index].isSharing
        } else {
            guard other == nil else { return .refused(.inAnotherFamily(account)) }
            guard family.members.count < Family.membersMax else {
                return .refused(.tooLarge(max: Family.membersMax))
            }
            changed.members.append(
                FamilyMember(accountID: account, isSharing: isSharing ?? true, joinedAt: time)
            )
        }
        return verdict(changed, after: family)
    }

    /// Judges the wish that a member leaves.
    static func removing(_ account: AccountID, from family: Family) -> Verdict {
        guard family.endedAt == nil else { return .refused(.ended) }
        guard family.members.contains(where: { $0.accountID == account }) else {
            return .refused(.memberUnknown(account))
        }
        guard account != family.organizer else { return .refused(.organizerStays) }
        guard family.members.count > 2 else { return .refused(.tooSmall) }
        var changed = family
        changed.members.removeAll { $0.accountID == account }
        return verdict(changed, after: family)
    }

    /// Judges a member's own wish to leave.
    ///
    /// Whoever has left already changes nothing. A family of two ends, so that nobody has to stay.
    static func leaving(_ account: AccountID, _ family: Family, at time: StoreTime) -> Verdict {
        guard family.members.contains(where: { $0.accountID == account }) else {
            return .unchanged(family)
        }
        guard account != family.organizer else { return .refused(.organizerStays) }
        return family.members.count > 2
            ? removing(account, from: family) : ending(family, at: time)
    }

    /// Ends a family; one that has ended stays as it is.
    static func ending(_ family: Family, at time: StoreTime) -> Verdict {
        guard family.endedAt == nil else { return .unchanged(family) }
        var changed = family
        changed.members = []
        changed.endedAt = time
        return verdict(changed, after: family)
    }

    private static func verdict(_ changed: Family, after family: Family) -> Verdict {
        guard changed != family else { return .unchanged(family) }
        var changed = changed
        changed.version += 1
        return .changed(changed)
    }
}
