/// The result of an import.
public struct CatalogImportResult: Codable, Hashable, Sendable {
    /// The number of new products.
    public var created: Int
    /// The number of changed products.
    public var changed: Int
    /// The number of unchanged products.
    public var unchanged: Int

    /// Makes a result.
    public init(created: Int, changed: Int, unchanged: Int) {
        self.created = created
        self.changed = changed
        self.unchanged = unchanged
    }
}
