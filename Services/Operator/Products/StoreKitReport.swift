import StoreAPI

/// The result of an import from a StoreKit configuration file, as JSON.
struct StoreKitReport: Encodable {
    var created: Int
    var changed: Int
    var unchanged: Int
    var report: [String]

    init(_ result: CatalogImportResult, _ notes: [StoreKitNote]) {
        created = result.created
        changed = result.changed
        unchanged = result.unchanged
        report = notes.map(\.description)
    }
}
