import EventTypes
import Foundation
import StoreAPI
import Synchronization
import StoreHarness

/// The buyers of a chaos run.
///
/// They pay with every method, follow their queues, decide deferred payments, finish delivered
/// purchases and request some refunds. They also subscribe, cancel, resume and change products,
/// redeem a code, share with their families and answer questions about higher prices.
///
/// They repeat unanswered requests: half of them after four seconds, the others after twelve. Like
/// a load balancer, they avoid an instance that did not answer for a while, if there is another
/// one.
final class ChaosBuyers: Sendable {
    let store: StoreHarness
    let accounts: Int
    let seed: UInt64
    let acts: ChaosActs
    private let tally = Mutex<Tally>(Tally())
    /// Chooses the instance to ask at random.
    private let routes: Mutex<SeededGenerator>

    private struct Tally {
        var isOpen = true
        var accepted: [AcceptedPayment] = []
        var acceptedIDs: Set<TransactionID> = []
        var finished: Set<TransactionID> = []
        var renewals: Set<TransactionID> = []
        var candidates = DisputeCandidates()
        var refused: [String: Int] = [:]
        var repetitions = 0
        var reconnections = 0
        var answers = ChaosAnswers()
        var silence = LongestSilence(begin: .now)
        /// The time at which each instance last did not answer.
        var missed: [String: ContinuousClock.Instant] = [:]
        /// The time by which every request must be answered, once the buying has ended.
        var lastAnswer: ContinuousClock.Instant?

        mutating func finish(_ transaction: Transaction, isDisputable: Bool) {
            // A purchase that is reported again after the end is not new.
            guard finished.insert(transaction.id).inserted else { return }
            if isDisputable { candidates.add(transaction) }
            if isOpen { silence.end(at: .now) }
        }
    }

    /// The time after the end of all faults in which a request may stay unanswered.
    private static let patience = Duration.seconds(60)
    /// The time that a stream may be silent before a client opens another.
    private static let quiet = Duration.seconds(6)

    init(store: StoreHarness, accounts: Int, seed: UInt64) {
        self.store = store
        self.accounts = accounts
        self.seed = seed
        // Half of the buyers come too late.
        acts = ChaosActs(redemptionsMax: max(1, accounts / 2))
        routes = Mutex(SeededGenerator(seed: seed &* 41))
    }

    /// The payments that were answered with a 2xx.
    var accepted: [AcceptedPayment] { tally.withLock { $0.accepted } }
    /// The number of them that the buyers have finished.
    var finishedCount: Int {
        tally.withLock { tally in
            tally.accepted.filter { tally.finished.contains($0.transactionID) }.count
        }
    }
    /// The numbers of repeated requests and reopened streams.
    var repetitions: (requests: Int, streams: Int) {
        tally.withLock { ($0.repetitions, $0.reconnections) }
    }
    /// The numbers of refusals, by code.
    var refusals: [String: Int] { tally.withLock { $0.refused } }

    /// The finished payments that the bank disputes: some of those that are not refunded.
    var disputable: [DisputeCandidates.Candidate] { tally.withLock { $0.candidates.chosen } }

    /// The number of renewals that reached a queue.
    var renewalCount: Int { tally.withLock { $0.renewals.count } }

    /// The waiting times, and the answers that should not have been given.
    var answers: ChaosAnswers { tally.withLock { $0.answers } }
    /// The longest time without a finish, between ``begin()`` and ``close()``.
    var longestSilence: LongestSilence { tally.withLock { $0.silence } }
    /// The accepted payments that no buyer has finished.
    var unfinished: [AcceptedPayment] {
        tally.withLock { tally in
            tally.accepted.filter { !tally.finished.contains($0.transactionID) }
        }
    }

    /// Starts to measure the longest silence.
    func begin() { tally.withLock { $0.silence = LongestSilence(begin: .now) } }

    /// Whether the buying goes on.
    var isOpen: Bool { tally.withLock { $0.isOpen } }

    /// Ends the buying; purchases that were started are still answered and finished.
    func close() {
        tally.withLock { tally in
            tally.isOpen = false
            tally.silence.end(at: .now)
        }
    }

    /// Sets a deadline for requests under way, now that all faults are over.
    func expectAnswers() {
        tally.withLock { $0.lastAnswer = ContinuousClock.now + Self.patience }
    }

    /// Buys until ``close()``, and returns after every request has been answered.
    func buy() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<accounts {
                group.addTask { try await self.buy(account: index) }
            }
            try await group.waitForAll()
        }
    }

    /// Follows all queues until the task is cancelled.
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
        while isOpen {
            number += 1
            if number % 20 == 0 {
                try await restore(index, key: "restore-\(index)-\(number)")
                continue
            }
            let key = "chaos-\(index)-\(number)"
            if number % 3 == 0 { try await answerRaises(index, using: &random) }
            if Int.random(in: 0..<12, using: &random) == 0 {
                try await doMore(index, key: key, using: &random)
            } else if number % 4 == 0 {
                try await subscribe(index, key: key, using: &random)
            } else if number % 13 == 0 {
                try await buyPromoted(index, key: key)
            } else {
                _ = try await pay(request(using: &random), index, key: key)
            }
            try await Task.sleep(
                for: .milliseconds(Int.random(in: 20...150, using: &random))
            )
        }
    }

    /// Pays, and returns whether the payment was accepted.
    @discardableResult
    func pay(
        _ request: PaymentRequest,
        _ index: Int,
        key: String
    ) async throws -> Bool {
        let answer = try await untilAnswered("a payment", by: .payments) { urls in
            try await client(index, urls).add(request, key: key)
        }
        if let transaction = answer.valueIfAny?.transaction {
            accept([transaction], method: request.paymentMethod.rawValue)
            return true
        }
        if answer.problem?.code == "stale_price" { acts.noteRaise(of: request.productID) }
        note(refusal: answer.problem?.code ?? "\(answer.status)")
        return false
    }

    /// Counts a refusal, by its code.
    func note(refusal: String) { tally.withLock { $0.refused[refusal, default: 0] += 1 } }

    /// Begins a purchase outside the app and pays it twice; exactly one payment must be accepted.
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

    /// Resumes an interrupted payment; a second request leads to the same transaction.
    private func resume(_ id: TransactionID, _ index: Int) async throws {
        // The sandbox has a method by default.
        let card = try await store.stripe?.saved(.success, of: client(index, store.urls))
        let answer = try await untilAnswered("a resumption", by: .payments) { urls in
            try await administrator(urls).resume(id, by: card)
        }
        guard let transaction = answer.valueIfAny?.transaction else { return }
        accept([transaction], method: "resumption")
    }

    private func restore(_ index: Int, key: String) async throws {
        let answer = try await untilAnswered("a restore", by: .payments) { urls in
            try await client(index, urls).restore(key: key)
        }
        accept(answer.valueIfAny?.transactions ?? [], method: "restore")
    }

    /// Notes transactions that the store has answered with, each once.
    private func accept(_ transactions: [Transaction], method: String) {
        tally.withLock { tally in
            let new = transactions.filter { tally.acceptedIDs.insert($0.id).inserted }
            tally.accepted += new.map {
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
            // Every third connection requests everything that is unfinished.
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
                // The service was killed; the next connection continues.
                if Task.isCancelled { return }
            }
            tally.withLock { $0.reconnections += 1 }
            // After a cancellation the loop ends.
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
        acts.see(transaction)
        // A code is redeemed on a page, which does not name the payment.
        if transaction.subscription?.offerOfCode != nil { accept([transaction], method: "code") }
        if change.finishedAt != nil {
            tally.withLock { $0.finish(transaction, isDisputable: false) }
            return
        }
        switch transaction.state {
        case .purchasing:
            try await confirm(transaction.id, index)
        case .deferred:
            let decision: ApprovalRequest.Decision =
                transaction.id.number % 3 == 0 ? .decline : .approve
            _ = try await untilAnswered("an approval", by: .payments) { urls in
                try await administrator(urls).decide(decision, on: transaction.id)
            }
        case .purchased, .restored, .failed:
            if transaction.reason == .renewal {
                tally.withLock { _ = $0.renewals.insert(transaction.id) }
            }
            let isTheApps = transaction.deliveryPlan.contains(.app)
            guard change.isDelivered || isTheApps || transaction.state == .failed else { return }
            if transaction.failureReason == .interrupted { try await resume(transaction.id, index) }
            let answer = try await untilAnswered("a finish", by: .fulfillment) { urls in
                try await client(index, urls).finish(transaction.id)
            }
            guard answer.valueIfAny != nil else { return }  // 409: another event will come.
            tally.withLock { $0.finish(transaction, isDisputable: true) }
            try await giveBack(transaction, index)
        default:
            return
        }
    }

    /// Confirms a charge that needs its buyer, in two of three cases; the others run out of time.
    private func confirm(_ id: TransactionID, _ index: Int) async throws {
        guard id.number % 3 != 0 else { return }
        let answer = try await untilAnswered("a page", by: .payments) { urls in
            try await client(index, urls).action(of: id)
        }
        guard let page = answer.valueIfAny else { return }
        // A buyer whose decision is lost runs out of time, too.
        let (urls, _) = route(to: .payments)
        _ = try? await client(index, urls).decide(.complete, on: page)
    }

    func account(_ index: Int) -> AccountID { AccountID(unchecked: "buyer-\(index)") }

    func client(_ index: Int, _ urls: StoreURLs) throws -> StoreClient {
        var client = StoreClient(
            account: account(index),
            urls: urls,
            token: try store.keys.token(account: account(index))
        )
        client.stripe = store.stripe
        client.timeout = index.isMultiple(of: 2) ? .seconds(12) : .seconds(4)
        return client
    }

    func administrator(_ urls: StoreURLs) throws -> StoreAdministrator {
        StoreAdministrator(urls: urls, token: try store.keys.administratorToken())
    }

    /// The URLs to use for a service now, and the name of the chosen instance.
    private func route(to service: StoreService) -> (StoreURLs, instance: String) {
        let missed = tally.withLock { $0.missed }
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
        tally.withLock { $0.missed[instance] = .now }
    }

    func untilAnswered<Value>(
        _ request: String,
        by service: StoreService,
        _ ask: (StoreURLs) async throws -> StoreAnswer<Value>
    ) async throws -> StoreAnswer<Value> {
        while true {
            let (urls, instance) = route(to: service)
            let begin = ContinuousClock.now
            // The request is repeated if there is no answer.
            let answer = try? await ask(urls)
            try Task.checkCancellation()
            let outcome = answer.map { answer in
                ChaosAnswers.Outcome.status(answer.status, code: answer.problem?.code)
            }
            let deadline = tally.withLock { tally in
                tally.answers.note(
                    request,
                    of: instance,
                    outcome ?? .noAnswer,
                    after: .now - begin
                )
                return tally.lastAnswer
            }
            if let answer, answer.status < 500 { return answer }
            if answer == nil { miss(instance) }
            if let deadline, ContinuousClock.now > deadline {
                throw HarnessError(
                    "\(Self.patience) after the end of all faults \(request) is not answered; "
                        + "\(instance) last said \(answer.map { "\($0.status)" } ?? "nothing")."
                )
            }
            tally.withLock { $0.repetitions += 1 }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
