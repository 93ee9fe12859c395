/// The result of an import.
///
/// It counts products, and subscription groups whose names the document gives.
public struct CatalogImportResult: Codable, Hashable, Sendable {
    /// The number of new products, and of groups that had no name before.
    public var created: Int
    /// The number of changed products and groups.
    public var changed: Int
    /// The number of unchanged products and groups.
    public var unchanged: Int

    /// Makes a result.
    public init(created: Int, changed: Int, unchanged: Int) {
        self.created = created
        self.changed = changed
        self.unchanged = unchanged
    }
}
