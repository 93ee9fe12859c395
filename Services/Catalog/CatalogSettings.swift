import EventTypes
import ServiceKit

/// The catalog's settings: those of every service, and how large an imported document may be.
struct CatalogSettings: Sendable {
    let common: CommonSettings
    /// The largest document of an import.
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
