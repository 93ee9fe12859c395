import EventTypes
import Foundation
import StoreAPI
import Synchronization
import StoreHarness

/// The buyers of a chaos run: they pay by every method, follow their queues, decide what is
/// deferred, finish what is delivered and want some of it refunded.
///
/// They ask again whenever nobody answers: half of them after four seconds, the others after twelve. An
/// instance that did not answer is left alone for a while if there is another, as a load balancer does.
final class ChaosBuyers: Sendable {
    private let store: StoreHarness
    private let accounts: Int
    private let seed: UInt64
    private let ledger = Mutex<Ledger>(Ledger())
    /// Draws which instance is asked.
    private let routes: Mutex<SeededGenerator>

    private struct Ledger {
        var isOpen = true
        var accepted: [AcceptedPayment] = []
        var finished: Set<TransactionID> = []
        var refused: [String: Int] = [:]
        var repetitions = 0
        var reconnections = 0
        var answers = ChaosAnswers()
        var silence = LongestSilence(begin: .now)
        /// When an instance last did not answer.
        var missed: [String: ContinuousClock.Instant] = [:]
        /// By when everything has to be answered, once the buying has ended.
        var lastAnswer: ContinuousClock.Instant?

        mutating func finish(_ id: TransactionID) {
            // Told again after the end, it is no news.
            guard finished.insert(id).inserted, isOpen else { return }
            silence.end(at: .now)
        }
    }

    /// How long after the end of all faults a request may go unanswered.
    private static let patience = Duration.seconds(60)
    /// How long a stream may say nothing before a client looks for another.
    private static let quiet = Duration.seconds(6)

    init(store: StoreHarness, accounts: Int, seed: UInt64) {
        self.store = store
        self.accounts = accounts
        self.seed = seed
        routes = Mutex(SeededGenerator(seed: seed &* 41))
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

    /// How long they waited, and what should not have been answered.
    var answers: ChaosAnswers { ledger.withLock { $0.answers } }
    /// The longest time without a finish, between ``begin()`` and ``close()``.
    var longestSilence: LongestSilence { ledger.withLock { $0.silence } }
    /// The accepted payments that no buyer has finished.
    var unfinished: [AcceptedPayment] {
        ledger.withLock { ledger in
            ledger.accepted.filter { !ledger.finished.contains($0.transactionID) }
        }
    }

    /// Begins to look for the longest silence.
    func begin() { ledger.withLock { $0.silence = LongestSilence(begin: .now) } }

    /// Ends the buying; what was begun is still answered and finished.
    func close() {
        ledger.withLock { ledger in
            ledger.isOpen = false
            ledger.silence.end(at: .now)
        }
    }

    /// Gives every request that is under way some time, now that all faults are over.
    func expectAnswers() {
        ledger.withLock { $0.lastAnswer = ContinuousClock.now + Self.patience }
    }

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
            if number % 20 == 0 {
                try await restore(index, key: "restore-\(index)-\(number)")
                continue
            }
            let key = "chaos-\(index)-\(number)"
            if number % 13 == 0 {
                try await buyPromoted(index, key: key)
            } else {
                _ = try await pay(Self.request(using: &random), index, key: key)
            }
            try await Task.sleep(
                for: .milliseconds(Int.random(in: 20...150, using: &random))
            )
        }
    }

    /// Pays, and tells whether it was accepted.
    private func pay(
        _ request: PaymentRequest,
        _ index: Int,
        key: String
    ) async throws -> Bool {
        let answer = try await untilAnswered("a payment", by: .payments) { urls in
            try await client(index, urls).add(request, key: key)
        }
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
    private func buyPromoted(_ index: Int, key: String) async throws {
        let promoted = PurchaseIntentRequest(
            bundleID: StoreKeys.bundleID,
            productID: SampleCatalog.coins
        )
        let begun = try await untilAnswered("an intent", by: .payments) { urls in
            try await administrator(urls).begin(promoted, for: account(index), key: key)
        }
        var request = PaymentRequest.sample()
        request.purchaseIntentID = try begun.value.purchaseIntent.id
        let isFirst = try await pay(request, index, key: key)
        let isSecond = try await pay(request, index, key: key + "-again")
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
        let answer = try await untilAnswered("a resumption", by: .payments) { urls in
            try await administrator(urls).resume(id)
        }
        guard let transaction = answer.valueIfAny?.transaction else { return }
        let isKnown = ledger.withLock { ledger in
            ledger.accepted.contains { $0.transactionID == transaction.id }
        }
        if !isKnown { accept([transaction], method: "resumption") }
    }

    private func restore(_ index: Int, key: String) async throws {
        let answer = try await untilAnswered("a restore", by: .payments) { urls in
            try await client(index, urls).restore(key: key)
        }
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
        let heard = Heard()
        var connections = 0
        while !Task.isCancelled {
            connections += 1
            let (urls, instance) = route(to: .fulfillment)
            // Every third connection asks for everything that is unfinished.
            let resumption = connections % 3 == 0 ? nil : heard.lastEventID
            let queue = try client(index, urls).queue(after: resumption)
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await self.listen(to: queue, index, heard) }
                    group.addTask {
                        try await heard.silence(of: Self.quiet)
                        self.miss(instance)
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } catch {
                // The service was killed; the next connection goes on.
                if Task.isCancelled { return }
            }
            ledger.withLock { $0.reconnections += 1 }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func listen(to queue: QueueStream, _ index: Int, _ heard: Heard) async throws {
        heard.waits()
        for try await event in queue {
            heard.hears(event.id)
            if let change = event.change { try await act(on: change, index) }
            heard.waits()
        }
    }

    private func act(on change: QueueChanged, _ index: Int) async throws {
        let transaction = change.transaction
        if change.finishedAt != nil {
            ledger.withLock { $0.finish(transaction.id) }
            return
        }
        switch transaction.state {
        case .deferred:
            let decision: ApprovalRequest.Decision =
                transaction.id.number % 3 == 0 ? .decline : .approve
            _ = try await untilAnswered("an approval", by: .payments) { urls in
                try await administrator(urls).decide(decision, on: transaction.id)
            }
        case .purchased, .restored, .failed:
            let isTheApps = transaction.deliveryPlan.contains(.app)
            guard change.isDelivered || isTheApps || transaction.state == .failed else { return }
            if transaction.failureReason == .interrupted { try await resume(transaction.id) }
            let answer = try await untilAnswered("a finish", by: .fulfillment) { urls in
                try await client(index, urls).finish(transaction.id)
            }
            guard answer.valueIfAny != nil else { return }  // 409: another event will come.
            ledger.withLock { $0.finish(transaction.id) }
            if transaction.state == .purchased, transaction.id.number % 20 == 0 {
                _ = try await untilAnswered("a refund", by: .payments) { urls in
                    try await administrator(urls).refund(transaction.id)
                }
            }
        default:
            return
        }
    }

    private func account(_ index: Int) -> AccountID { AccountID(unchecked: "buyer-\(index)") }

    private func client(_ index: Int, _ urls: StoreURLs) throws -> StoreClient {
        var client = StoreClient(
            account: account(index),
            urls: urls,
            token: try store.keys.token(account: account(index))
        )
        client.timeout = index.isMultiple(of: 2) ? .seconds(12) : .seconds(4)
        return client
    }

    private func administrator(_ urls: StoreURLs) throws -> StoreAdministrator {
        StoreAdministrator(urls: urls, token: try store.keys.administratorToken())
    }

    /// Where to ask a service now, and the name of the instance that is asked.
    private func route(to service: StoreService) -> (StoreURLs, instance: String) {
        let missed = ledger.withLock { $0.missed }
        let now = ContinuousClock.now
        let instances = Array(1...(store.options.replicas[service] ?? 1))
        let answering = instances.filter { number in
            missed[store.process(service, number).name].map { now - $0 > .seconds(5) } ?? true
        }
        let number = routes.withLock { random in
            (answering.isEmpty ? instances : answering).randomElement(using: &random) ?? 1
        }
        return (store.urls(instance: number), store.process(service, number).name)
    }

    private func miss(_ instance: String) {
        ledger.withLock { $0.missed[instance] = .now }
    }

    private func untilAnswered<Value>(
        _ request: String,
        by service: StoreService,
        _ ask: (StoreURLs) async throws -> StoreAnswer<Value>
    ) async throws -> StoreAnswer<Value> {
        while true {
            let (urls, instance) = route(to: service)
            let begin = ContinuousClock.now
            // No answer is what the repetition is for.
            let answer = try? await ask(urls)
            try Task.checkCancellation()
            let outcome = answer.map { answer in
                ChaosAnswers.Outcome.status(answer.status, code: answer.problem?.code)
            }
            let deadline = ledger.withLock { ledger in
                ledger.answers.note(
                    request,
                    of: instance,
                    outcome ?? .noAnswer,
                    after: .now - begin
                )
                return ledger.lastAnswer
            }
            if let answer, answer.status < 500 { return answer }
            if answer == nil { miss(instance) }
            if let deadline, ContinuousClock.now > deadline {
                throw HarnessError(
                    "\(Self.patience) after the end of all faults \(request) is not answered; "
                        + "\(instance) last said \(answer.map { "\($0.status)" } ?? "nothing")."
                )
            }
            ledger.withLock { $0.repetitions += 1 }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// What a buyer has heard on its stream, and since when it waits for more.
private final class Heard: Sendable {
    private let state = Mutex<(id: String?, since: ContinuousClock.Instant?)>((nil, nil))

    var lastEventID: String? { state.withLock { $0.id } }

    /// An event has come; the buyer is busy with it.
    func hears(_ id: String?) {
        state.withLock { state in
            state.id = id ?? state.id
            state.since = nil
        }
    }

    /// The buyer waits for the next event.
    func waits() { state.withLock { $0.since = .now } }

    /// Returns when the buyer has waited in vain for so long.
    func silence(of length: Duration) async throws {
        while true {
            let since = state.withLock { $0.since }
            if let since, ContinuousClock.now - since > length { return }
            try await Task.sleep(for: .milliseconds(250))
        }
    }
}
