import ServiceKit

/// A failure of the catalog itself; errors of PostgreSQL and Kafka keep their own types.
struct CatalogError: RetriableError, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String

        /// A stored product or group cannot be decoded, because a newer version or a person wrote it.
        static let unreadableProduct = Code(description: "unreadableProduct")
        /// Another writer changed a product although this one held the lock of all writers.
        static let lostUpdate = Code(description: "lostUpdate")
        /// The products have not been read yet.
        static let notLoaded = Code(description: "notLoaded")
    }

    let code: Code
    let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    var isRetriable: Bool { code != .unreadableProduct }
}
