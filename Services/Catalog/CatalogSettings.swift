import EventTypes
import ServiceKit

/// The catalog's settings: those of every service, and its own.
struct CatalogSettings: Sendable {
    let common: CommonSettings
    /// The maximum size of an imported document.
    let importBytesMax: Int
    /// The processor that charges, as for `payments`.
    let processor: ChargingProcessor

    init(_ reader: inout SettingsReader) {
        common = CommonSettings(&reader, service: .catalog, defaultPort: 8081)
        importBytesMax = reader.integer(
            "CATALOG_IMPORT_BYTES_MAX",
            default: 16 * 1024 * 1024,
            in: 1024...(256 * 1024 * 1024),
            "The largest document of an import, in bytes."
        )
        processor = reader.choice(
            "PROCESSOR",
            default: .sandbox,
            "Who charges, as for payments; prices that stripe cannot charge are refused."
        )
    }
}
