import EventTypes
import ServiceKit

/// The catalog's settings: those of every service, and the maximum size of an import.
struct CatalogSettings: Sendable {
    let common: CommonSettings
    /// The maximum size of an imported document.
    let importBytesMax: Int

    init(_ reader: inout SettingsReader) {
        common = CommonSettings(&reader, service: .catalog, defaultPort: 8081)
        importBytesMax = reader.integer(
            "CATALOG_IMPORT_BYTES_MAX",
            default: 16 * 1024 * 1024,
            in: 1024...(256 * 1024 * 1024),
            "The largest document of an import, in bytes."
        )
    }
}
