import EventTypes
import Foundation
import StoreAPI
import Synchronization
import TestSupport

/// The buyers of a chaos run: they pay by every method, follow their queues, decide what is
/// deferred, finish what is delivered and want some of it refunded, and they ask again whenever
/// nobody answers.
final class ChaosBuyers: Sendable {
    private let store: StoreHarness
    private let accounts: Int
    private let seed: UInt64
    private let ledger = Mutex<Ledger>(Ledger())

    private struct Ledger {
        var isOpen = true
        var accepted: [AcceptedPayment] = []
        var finished: Set<TransactionID> = []
        var refused: [String: Int] = [:]
        var repetitions = 0
        var reconnections = 0
    }

    init(store: StoreHarness, accounts: Int, seed: UInt64) {
        self.store = store
        self.accounts = accounts
        self.seed = seed
    }

    /// The payments that were answered with a 2xx.
    var accepted: [AcceptedPayment] { ledger.withLock { $0.accepted } }
    /// How many of them the buyers have finished.
    var finishedCount: Int {
        ledger.withLock { ledger in
            ledger.accepted.filter { ledger.finished.contains($0.transactionID) }.count
        }
    }
    /// How often something was asked again, and a stream opened again.
    var repetitions: (requests: Int, streams: Int) {
        ledger.withLock { ($0.repetitions, $0.reconnections) }
    }
    /// What was refused, by code.
    var refusals: [String: Int] { ledger.withLock { $0.refused } }

    /// Ends the buying; what was begun is still answered and finished.
    func close() { ledger.withLock { $0.isOpen = false } }

    /// Buys until ``close()``, then returns once every request has been answered.
    func buy() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<accounts {
                group.addTask { try await self.buy(account: index) }
            }
            try await group.waitForAll()
        }
    }

    /// Follows all queues until cancelled.
    func follow() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<accounts {
                group.addTask { try await self.follow(account: index) }
            }
            try await group.waitForAll()
        }
    }

    private func buy(account index: Int) async throws {
        var random = SeededGenerator(seed: seed &* 31 &+ UInt64(index))
        var number = 0
        while ledger.withLock({ $0.isOpen }) {
            number += 1
            let client = try client(index, using: &random)
            if number % 20 == 0 {
                try await restore(client, key: "restore-\(index)-\(number)")
                continue
            }
            let key = "chaos-\(index)-\(number)"
            if number % 13 == 0 {
                try await buyPromoted(client, key: key)
            } else {
                _ = try await pay(Self.request(using: &random), client, key: key)
            }
            try await Task.sleep(
                for: .milliseconds(Int.random(in: 20...150, using: &random))
            )
        }
    }

    /// Pays, and tells whether it was accepted.
    private func pay(
        _ request: PaymentRequest,
        _ client: StoreClient,
        key: String
    ) async throws -> Bool {
        let answer = try await untilAnswered { try await client.add(request, key: key) }
        if let transaction = answer.valueIfAny?.transaction {
            accept([transaction], method: request.paymentMethod)
            return true
        }
        ledger.withLock {
            $0.refused[answer.problem?.code ?? "\(answer.status)", default: 0] += 1
        }
        return false
    }

    /// Begins a purchase outside the app and pays it twice; one payment is to be accepted.
    private func buyPromoted(_ client: StoreClient, key: String) async throws {
        let administrator = try store.administrator
        let promoted = PurchaseIntentRequest(
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.coins
        )
        let begun = try await untilAnswered {
            try await administrator.begin(promoted, for: client.account, key: key)
        }
        var request = PaymentRequest.sample()
        request.purchaseIntentID = try begun.value.purchaseIntent.id
        let isFirst = try await pay(request, client, key: key)
        let isSecond = try await pay(request, client, key: key + "-again")
        guard isFirst, !isSecond else {
            throw HarnessError("An intent was paid \(isSecond ? "twice" : "never").")
        }
    }

    private static func request(using random: inout SeededGenerator) -> PaymentRequest {
        let products = [
            SampleCatalog.coins, SampleCatalog.coins, SampleCatalog.hint, SampleCatalog.pro,
            SampleCatalog.gift,
        ]
        let product = products[Int.random(in: products.indices, using: &random)]
        // Half succeed at once; the other half is every method in turn.
        let methods = SandboxPaymentMethod.allCases
        let method =
            Bool.random(using: &random)
            ? .success : methods[Int.random(in: methods.indices, using: &random)]
        let quantity = product == SampleCatalog.coins ? Int.random(in: 1...3, using: &random) : 1
        return .sample(product, by: method, quantity: quantity)
    }

    /// Takes up an interrupted payment; told of the failure twice, it is the same transaction.
    private func resume(_ id: TransactionID) async throws {
        let administrator = try store.administrator
        let answer = try await untilAnswered { try await administrator.resume(id) }
        guard let transaction = answer.valueIfAny?.transaction else { return }
        let isKnown = ledger.withLock { ledger in
            ledger.accepted.contains { $0.transactionID == transaction.id }
        }
        if !isKnown { accept([transaction], method: "resumption") }
    }

    private func restore(_ client: StoreClient, key: String) async throws {
        let answer = try await untilAnswered { try await client.restore(key: key) }
        accept(answer.valueIfAny?.transactions ?? [], method: "restore")
    }

    private func accept(_ transactions: [Transaction], method: String) {
        ledger.withLock { ledger in
            ledger.accepted += transactions.map {
                AcceptedPayment(
                    transactionID: $0.id,
                    account: $0.accountID,
                    paymentMethod: method
                )
            }
        }
    }

    private func follow(account index: Int) async throws {
        var random = SeededGenerator(seed: seed &* 37 &+ UInt64(index))
        var lastEventID: String?
        var connections = 0
        while !Task.isCancelled {
            connections += 1
            // Every third connection asks for everything that is unfinished.
            let resumption = connections % 3 == 0 ? nil : lastEventID
            let client = try client(index, using: &random)
            do {
                for try await event in client.queue(after: resumption) {
                    lastEventID = event.id ?? lastEventID
                    guard let change = event.change else { continue }
                    try await act(on: change, as: client)
                }
            } catch let fault as StoreFault {
                throw fault
            } catch {
                // The service was killed; the next connection goes on.
                if Task.isCancelled { return }
            }
            ledger.withLock { $0.reconnections += 1 }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func act(on change: QueueChanged, as client: StoreClient) async throws {
        let transaction = change.transaction
        if change.finishedAt != nil {
            ledger.withLock { _ = $0.finished.insert(transaction.id) }
            return
        }
        switch transaction.state {
        case .deferred:
            let decision: ApprovalRequest.Decision =
                transaction.id.number % 3 == 0 ? .decline : .approve
            let administrator = try store.administrator
            _ = try await untilAnswered {
                try await administrator.decide(decision, on: transaction.id)
            }
        case .purchased, .restored, .failed:
            let isTheApps = transaction.deliveryPlan.contains(.app)
            guard change.isDelivered || isTheApps || transaction.state == .failed else { return }
            if transaction.failureReason == .interrupted { try await resume(transaction.id) }
            let answer = try await untilAnswered { try await client.finish(transaction.id) }
            guard answer.valueIfAny != nil else { return }  // 409: another event will come.
            ledger.withLock { _ = $0.finished.insert(transaction.id) }
            if transaction.state == .purchased, transaction.id.number % 20 == 0 {
                let administrator = try store.administrator
                _ = try await untilAnswered { try await administrator.refund(transaction.id) }
            }
        default:
            return
        }
    }

    private func client(
        _ index: Int,
        using random: inout SeededGenerator
    ) throws -> StoreClient {
        let instances = store.options.replicas.values.max() ?? 1
        var client = try store.client(
            account: "buyer-\(index)",
            instance: Int.random(in: 1...instances, using: &random)
        )
        client.timeout = .seconds(5)
        return client
    }

    private func untilAnswered<Value>(
        _ ask: () async throws -> StoreAnswer<Value>
    ) async throws -> StoreAnswer<Value> {
        while true {
            do {
                let answer = try await ask()
                if try !answer.asksToTryAgain { return answer }
            } catch let fault as StoreFault {
                throw fault
            } catch {
                // No answer is what the repetition is for.
            }
            try Task.checkCancellation()
            ledger.withLock { $0.repetitions += 1 }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
