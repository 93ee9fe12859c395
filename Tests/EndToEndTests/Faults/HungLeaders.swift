import EventTypes
import Foundation
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// A process that is stopped without ending (SIGSTOP, or a paused machine).
    @Suite
    struct HungLeaders {
        /// The time limit of a purchase while its leader is stopped.
        ///
        /// The lead is lost within 15 s, and the consumer groups of the stopped process rebalance
        /// within 10 s. The rest is for a machine that is busy, or stands still.
        private static let bound = Duration.seconds(90)

        @Test(arguments: [StoreService.payments, .receipts, .fulfillment])
        func aStoppedLeaderStopsNoService(_ service: StoreService) async throws {
            try await withStore(.with(replicas: [service: 2])) { store in
                try await store.importSampleCatalog()
                var payments = [try await store.buy(as: "before", instance: 2)]
                try await store.finish(payments, instance: 2)
                // Stop each instance in turn. One of them is the leader, and the other one takes
                // over.
                for stopped in [1, 2] {
                    let healthy = 3 - stopped
                    let process = store.process(service, stopped)
                    process.send(SIGSTOP)
                    let start = ContinuousClock.now
                    do {
                        let during = try await store.buy(as: "while-\(stopped)", instance: healthy)
                        try await store.finish([during], instance: healthy)
                        payments.append(during)
                    } catch {
                        process.send(SIGCONT)
                        throw error
                    }
                    #expect(start.duration(to: .now) < Self.bound)
                    process.send(SIGCONT)
                    payments.append(try await store.buy(as: "while-\(stopped)", instance: stopped))
                }
                try await store.expectWhole(payments)
            }
        }
    }
}
