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
        try await DatabaseReader.storeTime(databases)
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

    /// Reads the story of one transaction, with six sessions of the databases.
    ///
    /// The other services are read after `payments`, so that its events have had time to arrive.
    /// They are read concurrently, and the consumers' marks are read last.
    ///
    /// - Parameters:
    ///   - id: The transaction.
    ///   - now: The store's time; `nil` if it is to be read, too.
    ///   - machineTime: The time of this machine.
    /// - Returns: The story without the books; `nil` if `payments` knows no such transaction.
    /// - Throws: `OperatorError` if a database cannot be read.
    package func story(
        of id: TransactionID,
        at now: StoreTime? = nil,
        _ machineTime: MachineTime
    ) async throws -> Story? {
        let found = try await DatabaseReader.read(databases.address(of: .payments)) { connection in
            let time = if let now { now } else { try StoreClockStore.now(on: connection) }
            return (
                chapter: try StoryStore.payments(id, on: connection),
                months: try LogArchiveStore.dropped(on: connection),
                time: time
            )
        }
        guard let payments = found.chapter else { return nil }
        let since = payments.requestedAt
        async let receiptsRead = DatabaseReader.read(databases.address(of: .receipts)) {
            connection in
            (
                chapter: try StoryStore.receipts(id, since: since, on: connection),
                months: try LogArchiveStore.dropped(on: connection)
            )
        }
        async let fulfillmentRead = DatabaseReader.read(databases.address(of: .fulfillment)) {
            connection in
            (
                chapter: try StoryStore.fulfillment(id, since: since, on: connection),
                months: try LogArchiveStore.dropped(on: connection)
            )
        }
        let (receipts, fulfillment) = (try await receiptsRead, try await fulfillmentRead)
        let events = payments.events + receipts.chapter.events + fulfillment.chapter.events
        let marks = try await marks(on: events.map(\.entry), of: payments.accountID)
        var story = StoryRules(
            payments: payments,
            receipts: receipts.chapter,
            fulfillment: fulfillment.chapter,
            marks: marks,
            now: found.time,
            machineTime: machineTime
        ).story
        // The files of months that have left the logs and may hold events of the purchase.
        story.archives = (found.months + receipts.months + fulfillment.months)
            .filter { $0.month >= LogMonth(since) }.map(\.fileName)
        return story
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
