import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// The crash points of sharing, in the table of Messaging's documentation.
    @Suite
    struct FamilyCrashPoints {
        private static let statement = "FROM families f JOIN family_members"

        @Test func beforeSharesAreCommitted() async throws {
            try await share(killingAt: .beforeCommit(ofTransactionWith: Self.statement))
        }

        @Test func afterSharesAreCommitted() async throws {
            try await share(killingAt: .afterCommit(ofTransactionWith: Self.statement))
        }

        /// Kills `payments` while it gives a member what another one has bought, and expects one share.
        private func share(killingAt point: PostgresProxy.Point) async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.sellShareablePro()
                let bought = try await store.buy(SampleCatalog.pro, as: "ada")
                let hold = try store.hold(.payments, point)
                _ = try await store.makeFamily("ada", "ben")
                try await store.crash(.payments, at: hold)
                _ = try await store.share(of: bought, with: "ben")
                let queued = try await store.client(account: "ben").unfinished().value
                #expect(queued.transactions.count == 1)
            }
        }
    }
}
