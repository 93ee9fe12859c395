import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// The responses of the services during problems of PostgreSQL.
    @Suite
    struct DatabaseInTrouble {
        @Test func everyRequestIsAnsweredInTenSecondsAndNothingIsReady() async throws {
            try await withStore(.with(database: .own)) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                var client = try store.client(account: "ada")
                client.timeout = .seconds(60)
                try await eventually("the purchase to be delivered") {
                    try await client.unfinished().value.transactions.first?.isDelivered == true
                        ? true : nil
                }
                try store.cluster.freeze()
                defer { try? store.cluster.thaw() }  // Even if the test fails.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let asking = client
                    group.addTask {
                        try await expectRefusal {
                            try await asking.add(.sample(), key: "frozen").response
                        }
                    }
                    group.addTask {
                        try await expectRefusal {
                            try await asking.finish(payment.transactionID).response
                        }
                    }
                    group.addTask {
                        try await expectRefusal { try await asking.unfinished().response }
                    }
                    for process in store.processes {
                        group.addTask { try await expectNotReady(process) }
                    }
                    try await group.waitForAll()
                }
                try store.cluster.thaw()
                try await store.waitUntilReady()
                let again = try await client.addUntilAnswered(.sample(), key: "frozen").value
                try await store.expectWhole([
                    payment,
                    AcceptedPayment(transactionID: again.transaction.id, account: client.account),
                ])
            }
        }

        /// The tables raise the error that PostgreSQL raises when it cannot extend a file.
        @Test func aFullDiskShowsInLogAndReadinessAndNothingIsLost() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                try await store.withDatabase(of: .payments) { connection in
                    try connection.execute(
                        """
                        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                            RAISE 'could not extend file' USING ERRCODE = 'disk_full';
                        END $$
                        """
                    )
                    try connection.execute(
                        """
                        CREATE TRIGGER refuse BEFORE INSERT ON transactions
                        EXECUTE FUNCTION refuse()
                        """
                    )
                }
                let client = try store.client(account: "ada")
                let start = ContinuousClock.now
                for _ in 0..<5 {
                    let answer = try await client.add(.sample(), key: "full")
                    #expect(answer.status == 503, "\(answer.response.text)")
                }
                let payments = store.process(.payments)
                let answer = try await StoreHTTP.send(.GET, payments.url + "/health/ready")
                #expect(answer.status == 503)
                #expect(answer.text.contains("postgres (53100: PostgreSQL's disk is full)"))
                try await store.withDatabase(of: .payments) { connection in
                    _ = try connection.execute("DROP TRIGGER refuse ON transactions")
                }
                try await payments.waitUntilReady()
                let lines = payments.log().split(separator: "\n").filter {
                    $0.contains("Payments cannot be written")
                }
                let most = 1 + Int(start.duration(to: .now) / .seconds(10))
                #expect((1...most).contains(lines.count), "At most one in ten seconds: \(lines)")
                #expect(lines.first?.contains("53100") == true, "\(lines)")
                let accepted = try await client.add(.sample(), key: "full").value.transaction
                try await store.expectWhole([
                    AcceptedPayment(transactionID: accepted.id, account: client.account)
                ])
            }
        }

        private func expectRefusal(
            _ ask: () async throws -> StoreResponse
        ) async throws {
            let start = ContinuousClock.now
            let response = try await ask()
            #expect(response.status == 503, "\(response.text)")
            #expect(response.headers.contains(name: "retry-after"))
            // A busy machine adds time of its own.
            #expect(start.duration(to: .now) < .seconds(50))
        }

        private func expectNotReady(_ process: ServiceProcess) async throws {
            try await eventually("\(process.name) to say what is wrong") {
                let answer = try await StoreHTTP.send(
                    .GET,
                    process.url + "/health/ready",
                    timeout: .seconds(10)
                )
                guard answer.status == 503 else { return nil as Bool? }
                let problem = try answer.decode(Problem.self)
                return problem.detail.contains("postgres (PostgreSQL does not answer)") ? true : nil
            }
        }
    }
}
