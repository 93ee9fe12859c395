package import Seals

/// Counts the events that `payments` has written since a place of its log.
package struct EventCountReader: Sendable {
    /// The most events that one count looks at; beyond it, it goes on from the end of the log.
    private static let countMax: Int64 = 20_000

    private let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Counts the events after a place.
    ///
    /// - Parameter place: The place of the last count; `nil` to begin at the end of the log.
    /// - Returns: The numbers, and the place from which the next count goes on.
    /// - Throws: ``OperatorError`` if the database cannot be read.
    package func count(after place: LogPlace?) async throws -> EventCounts {
        try await DatabaseReader.read(databases.address(of: .payments)) { connection in
            guard let place else {
                return EventCounts(place: try EventCountStore.end(on: connection))
            }
            return try EventCountStore.count(after: place, limit: Self.countMax, on: connection)
        }
    }
}
