/// The acts to list.
package struct ActQuery: Hashable, Sendable {
    package var kind: ActKind
    /// The administrator who acted; empty for everybody.
    package var administrator: String
    /// The account, the product or the group that the acts are about; empty for all.
    package var key: String
    /// The place where the page before ended; `nil` for the first page.
    package var before: String?
    /// The most acts of a page.
    package var limit: Int

    /// Makes a query.
    package init(
        kind: ActKind = .buyers,
        administrator: String = "",
        key: String = "",
        before: String? = nil,
        limit: Int = 50
    ) {
        self.kind = kind
        self.administrator = administrator
        self.key = key
        self.before = before
        self.limit = limit
    }
}
