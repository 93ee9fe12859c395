import Foundation
import Synchronization

/// A stand-in for Stripe that behaves as Stripe documents, for tests and for stores that people try.
///
/// It knows the calls that the store makes, idempotency keys, test cards, webhooks and faults. It
/// keeps its own books, which tests compare with the store's.
///
/// It is one account. The first account serves the further ones at its address: the secret key of a
/// call decides whose it is, as at Stripe, and no account sees anything of another.
package final class StandInServer: Sendable {
    /// Everything that changes.
    struct State {
        var books = StandInBooks()
        var answers: KeyedAnswers
        var faults = FaultList()
        var calls = 0
        /// The calls that make payments.
        var paymentCalls = 0
        var sentEvents = 0
        var takenWebhooks = 0
        /// The keys of the account; empty for every test key.
        var keys: Set<String>
        var revokedKeys: Set<String> = []
    }

    /// The outcome of a request.
    enum Reply: Sendable {
        case answer(StandInAnswer)
        /// The connection breaks before the answer.
        case lost
        /// No answer comes.
        case silent
        /// The connection breaks within the answer.
        case broken
        /// The answer begins, and does not end.
        case stalled
        /// The answer comes byte by byte.
        case dripping
    }

    /// The settings.
    let options: StandInOptions
    private let others: [StandInServer]
    let state: Mutex<State>
    private let start = ContinuousClock().now
    private let wakeUps = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Makes a stand-in with empty books.
    ///
    /// - Parameter options: The settings.
    /// - Precondition: Of several accounts each has keys.
    package init(_ options: StandInOptions = StandInOptions()) {
        let all = [options] + options.others
        precondition(all.count == 1 || all.allSatisfy { !$0.keys.isEmpty }, "Whose key is it?")
        self.options = options
        others = options.others.map { StandInServer($0) }
        var books = StandInBooks()
        books.series = options.series
        state = Mutex(
            State(
                books: books,
                answers: KeyedAnswers(lifetime: options.keyLifetime),
                keys: options.keys
            )
        )
    }

    /// The name of the account.
    package var name: String { options.name }

    /// All accounts at the address, this one in front.
    package var accounts: [StandInServer] { [self] + others }

    /// The account of a name; `nil` if there is none.
    package func account(named name: String) -> StandInServer? {
        accounts.first { $0.name == name }
    }

    /// The account that has an object, by the series in its id; `nil` if none has.
    package func account(of id: String) -> StandInServer? {
        let rest = id.drop { $0 != "_" }.dropFirst()
        // One series may be the beginning of another.
        return accounts.filter { rest.hasPrefix($0.options.series) }
            .max { $0.options.series.count < $1.options.series.count }
    }

    /// The account that takes a secret key; `nil` if none does.
    func account(with key: String) -> StandInServer? {
        guard key.hasPrefix("sk_test_") || key.hasPrefix("rk_test_") else { return nil }
        return accounts.first { account in
            account.state.withLock { state in
                !state.revokedKeys.contains(key)
                    && (state.keys.isEmpty || state.keys.contains(key))
            }
        }
    }

    /// Lets a fault meet the next requests.
    package func inject(_ fault: StandInFault) {
        state.withLock { $0.faults.add(fault) }
    }

    /// Ends all faults.
    package func clearFaults() { state.withLock { $0.faults.clear() } }

    /// The number of requests of the API so far, repetitions included.
    package var calls: Int { state.withLock(\.calls) }

    /// The number of requests so far to make a payment, repetitions included.
    package var paymentCalls: Int { state.withLock(\.paymentCalls) }

    /// The number of webhooks that were answered with success.
    package var takenWebhooks: Int { state.withLock(\.takenWebhooks) }

    /// Lets a payment that is being processed, or that waits for the buyer, succeed or fail.
    ///
    /// - Throws: An error if there is no such payment, or it waits for nothing.
    package func end(payment id: String, succeeds: Bool) throws {
        try change { books, time throws(StandInError) in
            let place = try books.place(ofPayment: id)
            switch books.payments[place].status {
            case .processing, .requiresAction: break
            default: throw books.unexpected(place, "ended")
            }
            let isWaiting = books.payments[place].status == .requiresAction
            if succeeds {
                books.pay(place, at: time)
            } else {
                let code = isWaiting ? "payment_intent_authentication_failure" : "card_declined"
                _ = books.decline(place, code: code, isWaiting ? nil : "generic_decline", at: time)
            }
        }
    }

    /// Lets a refund succeed, or fail even if it had succeeded.
    ///
    /// - Throws: An error if there is no such refund, or it has failed.
    package func end(refund id: String, succeeds: Bool) throws {
        try change { books, time throws(StandInError) in
            try books.end(refund: id, succeeds: succeeds, at: time)
        }
    }

    /// Lets a bank replace a saved card, which then pays.
    ///
    /// - Throws: An error if there is no such payment method.
    package func replaceCard(of method: String) throws {
        try change { books, time throws(StandInError) in
            books.methods[method]?.card = .succeeds
            books.methods[method]?.lastFour = "1881"
            let json = try CallTable(books: books, time: time).paymentMethod(method)
            books.tell("payment_method.automatically_updated", of: json, at: time)
        }
    }

    /// Takes a further key of the API, as after somebody has made one on Stripe's pages.
    package func issue(_ key: String) {
        state.withLock { state in
            // Without any it takes all.
            guard !state.keys.isEmpty else { return }
            state.keys.insert(key)
        }
    }

    /// Takes a key of the API no more, as after somebody has rolled it on Stripe's pages.
    package func revoke(_ key: String) { state.withLock { _ = $0.revokedKeys.insert(key) } }

    /// Removes all customers, as somebody may do on Stripe's pages.
    package func removeCustomers() { state.withLock { $0.books.customers.removeAll() } }

    /// Pays the balance in a currency out to the bank.
    ///
    /// - Throws: An error if there is nothing to pay out.
    package func payOut(_ currency: String) throws {
        try change { books, time throws(StandInError) in try books.payOut(currency, at: time) }
    }

    /// Lets the buyer's bank dispute a payment, or only inquire about it.
    ///
    /// - Throws: An error if nothing was paid.
    package func dispute(payment id: String, isInquiry: Bool = false) throws {
        try change { books, time throws(StandInError) in
            try books.dispute(id, isInquiry: isInquiry, at: time)
        }
    }

    /// Lets the buyer's bank dispute a payment of which nothing was refunded, or only inquire about it.
    ///
    /// A refund that waits or has failed counts as one, because it may be made again.
    ///
    /// - Returns: Whether it is disputed; if not, it was refunded or not paid, or has had a dispute.
    package func disputeUnrefunded(payment id: String, isInquiry: Bool) throws -> Bool {
        var isDisputed = false
        try change { books, time throws(StandInError) in
            let place = try books.place(ofPayment: id)
            guard let charge = books.payments[place].charge, charge.isPaid, !charge.isDisputed,
                !books.refunds.contains(where: { $0.payment == id })
            else { return }
            try books.dispute(id, isInquiry: isInquiry, at: time)
            isDisputed = true
        }
        return isDisputed
    }

    /// Ends the dispute of a payment.
    ///
    /// - Throws: An error if there is no open one.
    package func endDispute(of payment: String, isWon: Bool) throws {
        try change { books, time throws(StandInError) in
            try books.endDispute(of: payment, isWon: isWon, at: time)
        }
    }

    /// Tells that money of the balance can be paid out, with an event whose object has no id.
    package func tellBalance() {
        state.withLock { $0.books.tellBalance(at: Self.now()) }
        wakeUps.continuation.yield()
    }

    /// The address at which the buyer leaves the bank's page of a payment.
    package func returnURL(ofPayment id: String) -> String? {
        state.withLock { $0.books.payments.first { $0.id == id }?.returnURL }
    }

    /// Sets the address of the stand-in's own pages.
    func setPages(_ url: String) { state.withLock { $0.books.pages = url } }

    static func now() -> Int64 { Int64(Date().timeIntervalSince1970) }

    private func change(
        _ body: (inout StandInBooks, Int64) throws(StandInError) -> Void
    ) throws {
        try state.withLock { try body(&$0.books, Self.now()) }
        wakeUps.continuation.yield()
    }

    // MARK: - Requests

    /// Carries out a request, with the faults that meet it.
    func reply(to call: StandInCall) async -> Reply {
        let time = start.duration(to: ContinuousClock().now)
        let fault = state.withLock { state -> StandInFault.Kind? in
            state.calls += 1
            let isPayment = call.method == "POST" && call.path == "/v1/payment_intents"
            if isPayment { state.paymentCalls += 1 }
            if let fault = state.faults.next(call.method, call.path) { return fault }
            guard isPayment else { return nil }
            return state.books.trouble(of: call.form["payment_method"], under: call.key)
        }
        switch fault {
        case .lostBefore: return .lost
        case .silent: return .silent
        case .down: return .answer(StandInAnswer(status: 503, .null))
        case .rateLimit: return .answer(StandInAnswer(Self.rateLimit))
        default: break
        }
        let key = call.method == "POST" ? call.key : nil
        if let key {
            let entry = state.withLock { $0.answers.begin(key, call.fingerprint, at: time) }
            switch entry {
            case .begin: break
            case .replay(let answer): return .answer(answer)
            case .refuse(let error): return .answer(StandInAnswer(error))
            }
        }
        if fault == .lockTimeout {
            if let key { state.withLock { $0.answers.release(key) } }
            return .answer(StandInAnswer(Self.lockTimeout))
        }
        if case .slow(let duration) = fault {
            // A client that hangs up does not stop the work.
            try? await Task.sleep(for: duration)
        }
        let answer = work(call, key, fault)
        wakeUps.continuation.yield()
        switch fault {
        case .lostAfter: return .lost
        case .lostMidway: return .broken
        case .stalled: return .stalled
        case .dripping: return .dripping
        default: return .answer(answer)
        }
    }

    private func work(_ call: StandInCall, _ key: String?, _ fault: StandInFault.Kind?)
        -> StandInAnswer
    {
        state.withLock { state in
            var answer = StandInAnswer(Self.failed)
            if fault != .errorBefore {
                // The books move, because a copy would be made again by every call.
                var table = CallTable(books: StandInBooks(), time: Self.now())
                swap(&table.books, &state.books)
                defer { swap(&table.books, &state.books) }
                do throws(StandInError) {
                    answer = StandInAnswer(try table.perform(call))
                } catch {
                    if let key, !error.isOfBegunWork {
                        state.answers.release(key)
                        return StandInAnswer(error)
                    }
                    answer = StandInAnswer(error)
                }
            }
            if fault == .errorAfter { answer = StandInAnswer(Self.failed) }
            if let key { state.answers.keep(answer, for: key) }
            return answer
        }
    }

    private static let failed = StandInError(
        status: 500,
        type: "api_error",
        message: "Something went wrong on the stand-in's end.",
        shouldRetry: false
    )

    private static let rateLimit = StandInError(
        status: 429,
        type: "invalid_request_error",
        code: "rate_limit",
        message: "Too many requests."
    )

    private static let lockTimeout = StandInError(
        status: 429,
        type: "invalid_request_error",
        code: "lock_timeout",
        message: "The object is locked by another request.",
        shouldRetry: true
    )

    // MARK: - Webhooks

    /// Sends webhooks until it is cancelled.
    func sendWebhooks() async {
        guard let webhooks = options.webhooks else { return }
        let sender = WebhookSender(webhooks: webhooks, now: Self.now)
        for await _ in wakeUps.stream {
            let due = state.withLock { state in
                let due = state.books.events.dropFirst(state.sentEvents).filter {
                    webhooks.types.isEmpty || webhooks.types.contains($0.type)
                }.map { WebhookSender.Delivery(id: $0.id, body: StandInAnswer.text($0.json)) }
                state.sentEvents = state.books.events.count
                return due
            }
            let taken = await sender.send(due)
            state.withLock { $0.takenWebhooks += taken }
        }
    }
}
