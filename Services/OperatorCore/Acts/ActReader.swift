/// Reads who did what and why from the books of the services.
package struct ActReader: Sendable {
    private let databases: DatabaseAddresses

    /// Makes a reader.
    package init(databases: DatabaseAddresses) {
        self.databases = databases
    }

    /// A page of acts, newest first.
    ///
    /// A page of one person or account may be short, or even empty, and still have a next one: it looks
    /// at a bounded number of acts.
    package func page(_ query: ActQuery) async throws -> ActPage {
        guard let log = query.kind.log else {
            let found = try await withoutLog(query)
            let acts = Array(found.prefix(query.limit))
            let next = found.count > acts.count ? acts.last?.place : nil
            return ActPage(acts: acts, next: next, archivedMonth: nil)
        }
        return try await DatabaseReader.read(databases.address(of: log)) { connection in
            let found =
                log == .catalog
                ? try ActStore.aboutProducts(query, on: connection)
                : try ActStore.aboutBuyers(query, on: connection)
            let acts = Array(found.prefix(query.limit))
            var next = found.count > acts.count ? acts.last?.place : nil
            if next == nil, !query.administrator.isEmpty || !query.key.isEmpty {
                next = try ActStore.lookedAt(query, on: connection)
            }
            return ActPage(
                acts: acts,
                next: next,
                archivedMonth: try ActStore.archivedMonth(on: connection)
            )
        }
    }

    /// Acts that stand in tables: the page's, and one more if there is a next page.
    private func withoutLog(_ query: ActQuery) async throws -> [RecordedAct] {
        switch query.kind {
        case .codes:
            return try await DatabaseReader.read(databases.address(of: .payments)) {
                try CampaignActStore.acts(query, on: $0)
            }
        case .deadLetters: return try await deadLetters(query)
        case .buyers, .refunds, .approvals, .subscriptions, .families, .accounts, .products, .jobs:
            return []
        }
    }

    private func deadLetters(_ query: ActQuery) async throws -> [RecordedAct] {
        var found: [(place: ActPlace, act: RecordedAct)] = []
        for service in OperatedService.consumers {
            found += try await DatabaseReader.read(databases.address(of: service)) {
                try ActStore.aboutDeadLetters(of: service, query, on: $0)
            }
        }
        return found.sorted { $0.place > $1.place }.map(\.act)
    }
}
