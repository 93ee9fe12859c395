import EventTypes
import Foundation
import Scenarios
import StoreHarness
import Synchronization

/// The faults of a store on this machine.
///
/// Answers are lost in proxies in front of `payments` and `fulfillment`.
final class HarnessFaults: ScenarioFaults {
    private let store: StoreHarness
    /// The proxy in front of `payments`.
    let payments: HTTPProxy
    /// The proxy in front of `fulfillment`.
    let fulfillment: HTTPProxy

    init(in store: StoreHarness) async throws {
        self.store = store
        payments = try await HTTPProxy.start(inFrontOf: store.urls.payments)
        fulfillment = try await HTTPProxy.start(inFrontOf: store.urls.fulfillment)
    }

    func kill(_ service: ServiceName) async throws { try await process(service).kill() }

    func restart(_ service: ServiceName) async throws {
        let process = try process(service)
        guard !process.isRunning else { throw HarnessError("\(service) is running already.") }
        try await process.start()
        try await process.waitUntilReady()
    }

    func freeze(_ service: ServiceName) async throws { try process(service).freeze() }

    func thaw(_ service: ServiceName) async throws { try process(service).thaw() }

    func drop(_ answer: DroppedAnswer, times: Int) async throws -> @Sendable () -> Bool {
        let proxy = answer.isOfFulfillment ? fulfillment : payments
        let point = HTTPProxy.Point.beforeResponse(answer.requestLine)
        let first = proxy.hold(at: point)
        let lost = Lost()
        Task {
            var hold = first
            for number in 1...times {
                try await hold.reached(within: .seconds(600))
                await proxy.cut()
                hold.release()
                // The next hold stands before the client can ask again.
                if number < times { hold = proxy.hold(at: point) }
                try await proxy.resume()
                lost.count.add(1, ordering: .relaxed)
            }
        }
        return { lost.count.load(ordering: .relaxed) == times }
    }

    /// The number of answers that were lost.
    private final class Lost: Sendable { let count = Atomic(0) }

    func duplicate(_ transaction: TransactionID) async throws {
        let journal = "\(store.directory)/replay-\(UUID().uuidString).journal"
        // The seals follow the log within a second; a replay right after a purchase is earlier.
        let answer = try await store.counterfoil(
            "replay",
            "--transaction",
            transaction.rawValue,
            "--journal",
            journal,
            "--unverified",
            "--execute"
        )
        guard answer.exit == .code(0) else { throw HarnessError("\(answer)") }
    }

    func heal() async throws {
        await store.relieve()
        try await store.heal()
    }

    /// Ends the proxies.
    func end() async {
        await payments.cut()
        await fulfillment.cut()
    }

    private func process(_ name: ServiceName) throws -> ServiceProcess {
        guard let service = StoreService(rawValue: name.rawValue) else {
            throw HarnessError("There is no service \(name).")
        }
        return store.process(service)
    }
}
