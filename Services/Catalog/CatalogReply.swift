/// The answer to a set of edits.
enum CatalogReply: Sendable {
    /// The decision on each edit, in their order; if one is refused, nothing is changed.
    case decided([ProductRules.Decision])
    /// The catalog is not at the version that was expected, so nothing is changed.
    case isAtOtherVersion(Int)
}
