/// Reads who did what and why from the books of the services.
package struct ActReader: Sendable {
    private let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// A page of acts, newest first.
    ///
    /// - Returns: The acts, and the place where the next page begins; `nil` on the last page.
    package func page(_ query: ActQuery) async throws -> (acts: [RecordedAct], next: String?) {
        let found: [RecordedAct]
        switch query.kind {
        case .buyers, .refunds, .approvals, .subscriptions:
            found = try await DatabaseReader.read(databases.address(of: .payments)) {
                try ActStore.aboutBuyers(query, on: $0)
            }
        case .products:
            found = try await DatabaseReader.read(databases.address(of: .catalog)) {
                try ActStore.aboutProducts(query, on: $0)
            }
        case .deadLetters: found = try await deadLetters(query)
        }
        let acts = Array(found.prefix(query.limit))
        return (acts, found.count > acts.count ? acts.last?.place : nil)
    }

    private func deadLetters(_ query: ActQuery) async throws -> [RecordedAct] {
        var found: [(place: DeadLetterPlace, act: RecordedAct)] = []
        for service in OperatedService.consumers {
            found += try await DatabaseReader.read(databases.address(of: service)) {
                try ActStore.aboutDeadLetters(of: service, query, on: $0)
            }
        }
        return found.sorted { $0.place > $1.place }.map(\.act)
    }
}
