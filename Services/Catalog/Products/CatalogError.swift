import ServiceKit

/// A failure of the catalog itself; what PostgreSQL and Kafka report keeps its own type.
struct CatalogError: RetriableError, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String

        /// A stored product cannot be read: it was written by a newer version, or by hand.
        static let unreadableProduct = Code(description: "unreadableProduct")
        /// A product changed although its writer held the lock of all writers.
        static let lostUpdate = Code(description: "lostUpdate")
        /// The database cannot be reached at present, or the connection broke as it committed: a
        /// change of the catalog is the same change when it is sent again.
        static let databaseAway = Code(description: "databaseAway")
        /// The products are not read yet.
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
