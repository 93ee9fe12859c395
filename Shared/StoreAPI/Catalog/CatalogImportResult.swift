/// What an import did.
public struct CatalogImportResult: Codable, Hashable, Sendable {
    /// How many products are new.
    public var created: Int
    /// How many changed.
    public var changed: Int
    /// How many were as they are already.
    public var unchanged: Int

    /// Makes a result.
    public init(created: Int, changed: Int, unchanged: Int) {
        self.created = created
        self.changed = changed
        self.unchanged = unchanged
    }
}
