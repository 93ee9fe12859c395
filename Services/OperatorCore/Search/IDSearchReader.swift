package import EventTypes
package import StoreTracing

/// Finds what is neither a purchase nor an account by its id or word.
package struct IDSearchReader: Sendable {
    /// The most events of a log that are looked at for a trace, the newest first.
    package static let eventsMax = 20_000
    /// The most charges and refunds that are looked at for an id of the processor, the newest first.
    package static let attemptsMax = 100_000

    private let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// Whether there is a product.
    package func knows(_ id: ProductID) async throws -> Bool {
        try await DatabaseReader.read(databases.address(of: .catalog)) {
            try IDSearchStore.knows(id, on: $0)
        }
    }

    /// Whether there is a campaign of offer codes.
    package func knows(campaign id: Int64) async throws -> Bool {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try IDSearchStore.knows(campaign: id, on: $0)
        }
    }

    /// The newest campaign of a custom code in capitals; `nil` if there is none among the newest ones.
    package func campaign(of word: String) async throws -> Int64? {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try IDSearchStore.campaign(of: word, on: $0)
        }
    }

    /// The organizer of a family; `nil` if there is no such family.
    package func organizer(of id: FamilyID) async throws -> AccountID? {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try IDSearchStore.organizer(of: id, on: $0)
        }
    }

    /// The transaction that a notification to a merchant's server is about; `nil` if there is none.
    package func transaction(notifiedBy id: EventID) async throws -> TransactionID? {
        try await DatabaseReader.read(databases.address(of: .receipts)) {
            try IDSearchStore.transaction(notifiedBy: id, on: $0)
        }
    }

    /// The transaction that a dispute of the processor is about; `nil` if there is none.
    package func transaction(disputedBy id: String) async throws -> TransactionID? {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try IDSearchStore.transaction(disputedBy: id, on: $0)
        }
    }

    /// The transaction that a charge or a refund of the processor belongs to; `nil` if it is not among
    /// the newest ones.
    package func transaction(movedBy id: String) async throws -> TransactionID? {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try IDSearchStore.transaction(
                movedBy: id,
                attemptsMax: Int64(Self.attemptsMax),
                on: $0
            )
        }
    }

    /// The newest event of a trace; `nil` if the newest events of `payments` have none.
    package func event(in trace: TraceID) async throws -> FoundEvent? {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try IDSearchStore.event(in: trace, eventsMax: Int64(Self.eventsMax), on: $0)
        }
    }
}
