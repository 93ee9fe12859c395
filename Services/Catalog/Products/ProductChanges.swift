import EventTypes

/// Which products a database transaction changed, in a notification's payload: `id:version,…`, or
/// nothing when they are too many for one, which means any.
struct ProductChanges: Hashable, Sendable {
    /// PostgreSQL takes payloads below 8000 bytes.
    static let payloadBytesMax = 7900

    /// The products and their new versions; `nil` means any.
    let versions: [ProductID: Int]?

    init(_ products: [Product]) {
        versions = Dictionary(
            products.map { ($0.id, $0.version) },
            uniquingKeysWith: { $0 > $1 ? $0 : $1 }
        )
    }

    /// Reads a payload; one that is not understood means any.
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
