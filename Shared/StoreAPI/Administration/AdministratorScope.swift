/// A part of what administrators may do.
///
/// A key has one or more scopes. No scope includes another.
public enum AdministratorScope: String, CaseIterable, Codable, Comparable, Sendable {
    /// Read everything but receipts.
    case read
    /// Help buyers: read what concerns them, approve, decline, refund, resume, and change accounts
    /// and subscriptions.
    case support
    /// Operate the store: its clock, and the addresses it sends notifications to.
    case `operator`
    /// Change what is sold: products, prices and hosted content.
    case merchandiser

    /// Orders scopes by their names.
    public static func < (left: AdministratorScope, right: AdministratorScope) -> Bool {
        left.rawValue < right.rawValue
    }
}
