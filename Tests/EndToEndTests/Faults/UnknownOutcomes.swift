import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// Requests with a commit whose outcome is unknown: the session ends after `COMMIT` was sent
    /// and before its answer arrived.
    ///
    /// A repetition of such a request is answered as if nothing had happened.
    @Suite
    struct UnknownOutcomes {
        /// The way in which the session ends.
        enum End: CaseIterable {
            /// The backend receives SIGKILL while `COMMIT` is on its way. Nothing is committed.
            case backendKilled
            /// The connection is cut after the server has committed.
            case answerLost
        }

        /// A write request to a service, and a statement of its database transaction.
        struct Write: Sendable {
            var service: StoreService
            var statement: String
            var ask: @Sendable () async throws -> StoreResponse
        }

        @Test(arguments: End.allCases)
        func aWriteOfUnknownOutcomeAsksToBeSentAgain(_ end: End) async throws {
            try await withStore(
                .with(postgresProxies: Set(StoreService.allCases), database: .own)
            ) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                let writes = try writes(store, payment)
                try await eventually("the purchase to be delivered") {
                    try await store.client(account: "ada").unfinished().value.transactions.first?
                        .isDelivered == true ? true : nil
                }
                for write in writes {
                    let lost = try await lose(write, by: end, in: store)
                    #expect(lost.status == 503, "\(write.service): \(lost.text)")
                    #expect(try lost.decode(Problem.self).code == "try_again")
                    #expect(lost.headers.contains(name: "retry-after"), "\(write.service)")
                    let second = try await write.ask()
                    #expect((200..<300).contains(second.status), "\(second.text)")
                }
                try await aNotificationThatMayHaveBeenMadeSaysSo(end, store)
                try await store.expectWhole([payment, try await paid(again: store)])
            }
        }

        /// Each request makes its own notification, so the answer must not ask for a repetition.
        private func aNotificationThatMayHaveBeenMadeSaysSo(
            _ end: End,
            _ store: StoreHarness
        ) async throws {
            let administrator = try store.administrator
            let url =
                store.urls.receipts + "\(Routes.adminApps)/\(StoreKeys.bundleID)/notifications"
            let sending = Write(service: .receipts, statement: "INSERT INTO notifications") {
                try await administrator.raw(
                    .POST,
                    url,
                    body: Array(#"{"notificationType":"TEST"}"#.utf8)
                )
            }
            let lost = try await lose(sending, by: end, in: store)
            #expect(lost.status == 503, "\(lost.text)")
            #expect(try lost.decode(Problem.self).code == "outcome_unknown")
            #expect(!lost.headers.contains(name: "retry-after"))
        }

        private static let key = "unknown-outcome"

        /// Returns one write request for each service, and the finish.
        private func writes(_ store: StoreHarness, _ payment: AcceptedPayment) throws -> [Write] {
            let client = try store.client(account: "ada")
            let administrator = try store.administrator
            let hint = try #require(try SampleCatalog.document().products[SampleCatalog.hint])
            return [
                Write(service: .fulfillment, statement: "SET finished_at") {
                    try await client.finish(payment.transactionID).response
                },
                Write(service: .payments, statement: "INTO transactions") {
                    try await client.add(.sample(), key: Self.key).response
                },
                Write(service: .receipts, statement: "INTO notification_endpoints") {
                    try await administrator.setNotificationEndpoint(to: "http://127.0.0.1:9/")
                        .response
                },
                Write(service: .catalog, statement: "INTO product_versions") {
                    var draft = hint
                    draft.prices[SampleCatalog.usa] = SampleCatalog.usd(149)
                    return try await administrator.put(draft, as: SampleCatalog.hint)
                },
            ]
        }

        /// Checks the lost payment: the same key returns the same transaction.
        private func paid(again store: StoreHarness) async throws -> AcceptedPayment {
            let client = try store.client(account: "ada")
            let transaction = try await client.add(.sample(), key: Self.key).value.transaction
            return AcceptedPayment(transactionID: transaction.id, account: client.account)
        }

        /// Sends a request, and ends the session during its commit.
        ///
        /// The store is ready again afterwards.
        private func lose(
            _ write: Write,
            by end: End,
            in store: StoreHarness
        ) async throws -> StoreResponse {
            let hold = try store.hold(
                write.service,
                end == .backendKilled
                    ? .beforeCommit(ofTransactionWith: write.statement)
                    : .afterCommit(ofTransactionWith: write.statement)
            )
            let asked = Task { try await write.ask() }
            try await hold.reached()
            let proxy = try #require(store.postgresProxies[write.service])
            switch end {
            case .backendKilled:
                let id = try await store.backend(committingIn: write.service)
                #expect(kill(id, SIGKILL) == 0)
            case .answerLost: await proxy.cut()
            }
            let answer = try await asked.value
            hold.release()
            try await proxy.resume()
            try await eventually("PostgreSQL to be back") {
                try await store.cluster.asSuperuser { connection in
                    try connection.query("SELECT 1").count
                }
            }
            try await store.waitUntilReady()
            return answer
        }
    }
}

extension StoreHarness {
    /// Returns the process of the session that waits for the next message of the database
    /// transaction that began first.
    ///
    /// In the middle of a pipeline the server does not call a session idle.
    fileprivate func backend(committingIn service: StoreService) async throws -> Int32 {
        let database = service.rawValue + "%"
        return try await eventually("a session to wait for the end of its database transaction") {
            try await cluster.asSuperuser { connection in
                try connection.query(
                    """
                    SELECT pid FROM pg_stat_activity
                    WHERE datname LIKE \(database) AND xact_start IS NOT NULL
                        AND wait_event = 'ClientRead'
                    ORDER BY xact_start LIMIT 1
                    """
                ).first?.decode(Int32.self)
            }
        }
    }
}
