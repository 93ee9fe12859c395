import EventArchive
import EventTypes
import Messaging
import Postgres
import Seals
import StoreAPI

/// Collects a story from the services' databases.
struct StoryReader: Sendable {
    let databases: DatabaseOptions

    /// Reads the story of one transaction.
    ///
    /// The other services are read after `payments`, so that its events have had time to arrive.
    /// They are read concurrently, and the consumers' marks are read last.
    func story(
        of id: TransactionID,
        at now: StoreTime,
        _ machineTime: MachineTime
    ) async throws -> Story {
        let payments = try await DatabaseReader.read(databases.address(of: .payments)) {
            try StoryStore.payments(id, on: $0)
        }
        guard let payments else {
            throw OperatorError(
                .failed,
                """
                payments knows no transaction \(id) (order \(OrderID(id))).
                For an account's purchases: counterfoil why ACCOUNT
                """
            )
        }
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
        let books = try await books(of: id)
        story.books = books
        story.differences = ReconcileRules.differences(in: books).map(\.answer)
        return story
    }

    /// Reads a transaction from all books, `payments` first.
    private func books(of id: TransactionID) async throws -> TransactionBooks {
        let empty = [id.number: TransactionBooks(id: id)]
        let known = try await DatabaseReader.read(databases.address(of: .payments)) {
            var books = empty
            try ReconcileStore.readPayments(into: &books, on: $0)
            return books
        }
        let signed = try await DatabaseReader.read(databases.address(of: .receipts)) {
            var books = known
            try ReconcileStore.readReceipts(into: &books, on: $0)
            return books
        }
        let queued = try await DatabaseReader.read(databases.address(of: .fulfillment)) {
            var books = signed
            try ReconcileStore.readQueue(into: &books, on: $0)
            return books
        }
        return queued[id.number] ?? TransactionBooks(id: id)
    }

    /// The files of months that have left the services' logs and may hold events of a purchase.
    private func archives(since time: StoreTime) async throws -> [String] {
        let oldest = LogMonth(time)
        var names: [String] = []
        for service in [StoreOptions.Service.payments, .receipts, .fulfillment] {
            names += try await DatabaseReader.read(databases.address(of: service)) { connection in
                try LogArchiveStore.dropped(on: connection)
            }
            .filter { $0.month >= oldest }
            .map(\.fileName)
        }
        return names
    }

    /// Reads the purchases of an account.
    func story(of account: AccountID, limit: Int) async throws -> AccountStory {
        async let purchases = DatabaseReader.read(databases.address(of: .fulfillment)) {
            try StoryMarksStore.purchases(of: account, limit: limit + 1, on: $0)
        }
        var letters: [RecordedDeadLetter] = []
        for service in DeadLettersCommand.consumers {
            letters += try await DatabaseReader.read(databases.address(of: service)) { connection in
                try DeadLetterStore.letters(
                    .init(key: account.rawValue, limit: 10),
                    on: connection
                )
            }
        }
        let found = try await purchases
        guard !found.isEmpty || !letters.isEmpty else {
            throw OperatorError(
                .failed,
                """
                No account '\(account)' has bought anything. If you meant an order or a transaction, a \
                letter or digit in it is wrong.
                """
            )
        }
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
            for service in DeadLettersCommand.consumers {
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
