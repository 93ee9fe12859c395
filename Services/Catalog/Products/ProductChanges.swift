import EventTypes

/// The products that a database transaction changed, as the payload of a notification.
///
/// The payload is `id:version,…`. It is empty if there are too many changes for one notification,
/// which means that any product may have changed.
struct ProductChanges: Hashable, Sendable {
    /// The limit for a payload; PostgreSQL accepts less than 8000 bytes.
    static let payloadBytesMax = 7900

    /// The products and their new versions; `nil` means any product.
    let versions: [ProductID: Int]?

    init(_ products: [Product]) {
        versions = Dictionary(
            products.map { ($0.id, $0.version) },
            uniquingKeysWith: { $0 > $1 ? $0 : $1 }
        )
    }

    /// Reads a payload; a malformed one means any product.
    init(payload: String) {
        var versions: [ProductID: Int] = [:]
        for entry in payload.split(separator: ",") {
            let parts = entry.split(separator: ":")
            guard parts.count == 2, let id = ProductID(rawValue: String(parts[0])),
                let version = Int(parts[1])
            else {
                self.versions = nil
                return
            }
            versions[id] = version
        }
        self.versions = versions.isEmpty ? nil : versions
    }

    var payload: String {
        let entries = (versions ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        let payload = entries.joined(separator: ",")
        return payload.utf8.count > Self.payloadBytesMax ? "" : payload
    }
}
