import EventArchive
package import EventTypes
import Messaging
import Postgres
import Seals

/// Collects a story from the services' databases.
package struct StoryReader: Sendable {
    /// The addresses of the services' databases.
    package let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// The store's time.
    package func storeTime() async throws -> StoreTime {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try StoreClockStore.now(on: $0)
        }
    }

    /// Whether there is a transaction.
    package func knows(_ id: TransactionID) async throws -> Bool {
        try await DatabaseReader.read(databases.address(of: .payments)) {
            try StoryMarksStore.knows(id, on: $0)
        }
    }

    /// Looks for an event in the logs of all services, in the order of a purchase.
    package func event(_ id: EventID) async throws -> FoundEvent? {
        for service in OperatedService.allCases {
            let found = try await DatabaseReader.read(databases.address(of: service)) {
                try StoryMarksStore.event(id, on: $0)
            }
            if let found { return found }
        }
        return nil
    }

    /// Reads the story of one transaction.
    ///
    /// The other services are read after `payments`, so that its events have had time to arrive.
    /// They are read concurrently, and the consumers' marks are read last.
    ///
    /// - Returns: The story without the books; `nil` if `payments` knows no such transaction.
    package func story(
        of id: TransactionID,
        at now: StoreTime,
        _ machineTime: MachineTime
    ) async throws -> Story? {
        let payments = try await DatabaseReader.read(databases.address(of: .payments)) {
            try StoryStore.payments(id, on: $0)
        }
        guard let payments else { return nil }
        let since = payments.requestedAt
        async let receipts = DatabaseReader.read(databases.address(of: .receipts)) {
            try StoryStore.receipts(id, since: since, on: $0)
        }
        async let fulfillment = DatabaseReader.read(databases.address(of: .fulfillment)) {
            try StoryStore.fulfillment(id, since: since, on: $0)
        }
        let chapters = (try await receipts, try await fulfillment)
        let events = (payments.events + chapters.0.events + chapters.1.events).map(\.entry)
        let marks = try await marks(on: events, of: payments.accountID)
        var story = StoryRules(
            payments: payments,
            receipts: chapters.0,
            fulfillment: chapters.1,
            marks: marks,
            now: now,
            machineTime: machineTime
        ).story
        story.archives = try await archives(since: since)
        return story
    }

    /// The files of months that have left the services' logs and may hold events of a purchase.
    private func archives(since time: StoreTime) async throws -> [String] {
        let oldest = LogMonth(time)
        var names: [String] = []
        for service in [OperatedService.payments, .receipts, .fulfillment] {
            names += try await DatabaseReader.read(databases.address(of: service)) { connection in
                try LogArchiveStore.dropped(on: connection)
            }
            .filter { $0.month >= oldest }
            .map(\.fileName)
        }
        return names
    }

    /// Reads the purchases of an account.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - id: The last purchase of the page before; `nil` for the newest ones.
    ///   - limit: The most purchases.
    /// - Returns: The purchases; `nil` if the account has neither bought anything nor a dead letter.
    /// - Throws: `OperatorError` if a database cannot be read.
    package func story(
        of account: AccountID,
        before id: TransactionID? = nil,
        limit: Int
    ) async throws -> AccountStory? {
        async let purchases = DatabaseReader.read(databases.address(of: .fulfillment)) {
            try StoryMarksStore.purchases(of: account, before: id, limit: limit + 1, on: $0)
        }
        var letters: [RecordedDeadLetter] = []
        for service in OperatedService.consumers {
            letters += try await DatabaseReader.read(databases.address(of: service)) { connection in
                try DeadLetterStore.letters(
                    .init(key: account.rawValue, limit: 10),
                    on: connection
                )
            }
        }
        let found = try await purchases
        guard !found.isEmpty || !letters.isEmpty else { return nil }
        return AccountStory(
            accountID: account,
            purchases: Array(found.prefix(limit)),
            isCut: found.count > limit,
            deadLetters: letters
        )
    }

    private func marks(
        on events: [AppliedEvents.Entry],
        of account: AccountID
    ) async throws -> [ServiceName: ConsumerMarks] {
        try await withThrowingTaskGroup(of: (ServiceName, ConsumerMarks).self) { group in
            for service in OperatedService.consumers {
                group.addTask {
                    let marks = try await DatabaseReader.read(databases.address(of: service)) {
                        try StoryMarksStore.marks(
                            of: service.rawValue,
                            on: events,
                            of: account,
                            connection: $0
                        )
                    }
                    return (service.name, marks)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }
}
