/// The answer to a set of edits.
enum CatalogReply: Sendable {
    /// The decision on each edit; if one is refused, nothing is changed.
    case decided(CatalogDecisions)
    /// The catalog is not at the version that was expected, so nothing is changed.
    case isAtOtherVersion(Int)
}
