import EventTypes
import StoreAPI

/// The rules for the names of subscription groups.
///
/// Pure: from the current names and the administrator's edit they decide the new names, or why the
/// edit is refused.
enum GroupRules {
    /// An administrator's edit of one group.
    struct Edit: Sendable {
        var id: SubscriptionGroupID
        var draft: SubscriptionGroupDraft
    }

    /// The decision on an edit.
    enum Decision: Hashable, Sendable {
        case created(SubscriptionGroup)
        case changed(SubscriptionGroup)
        case unchanged(SubscriptionGroup)
        /// No product is in the group, so there is no such group.
        case unknown(SubscriptionGroupID)

        /// The group to write; `nil` if nothing changes.
        var written: SubscriptionGroup? {
            switch self {
            case .created(let group), .changed(let group): group
            case .unchanged, .unknown: nil
            }
        }
    }

    /// Decides an edit.
    ///
    /// - Parameters:
    ///   - edit: The edit.
    ///   - current: The group; `nil` if it has no name yet.
    ///   - hasProduct: Whether a product is in the group.
    /// - Returns: The decision, with the group at its new version if the edit changes it.
    static func decide(
        _ edit: Edit,
        current: SubscriptionGroup?,
        hasProduct: Bool
    ) -> Decision {
        guard hasProduct else { return .unknown(edit.id) }
        let names = edit.draft.localizations
        guard var group = current else {
            return .created(SubscriptionGroup(id: edit.id, version: 1, localizations: names))
        }
        guard group.localizations != names else { return .unchanged(group) }
        group.localizations = names
        group.version += 1
        return .changed(group)
    }

    /// The versions of all groups together, which rise with each change of one.
    static func version(of groups: [SubscriptionGroup]) -> Int {
        groups.reduce(0) { $0 + $1.version }
    }

    /// Converts a group into the draft that an administrator would send, for an export.
    static func draft(of group: SubscriptionGroup) -> SubscriptionGroupDraft {
        SubscriptionGroupDraft(localizations: group.localizations)
    }

    /// A problem of a group that an administrator sent.
    static func problem(of id: String, _ field: String, _ text: String) -> ProductProblem {
        ProductProblem(
            productID: "group \(ProductProblem.shortened(id))",
            field: field,
            problem: text
        )
    }
}
