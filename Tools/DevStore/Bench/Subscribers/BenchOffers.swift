import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StoreHarness

/// The cost of purchases with an offer, beside that of purchases at the ordinary price.
///
/// All customers had a subscription that has ended. Some buy it again at the ordinary price, as many
/// with a promotional offer that the merchant's server has signed, and as many with a code of their own.
/// They take turns in several rounds, so a machine that changes its speed changes it for all of them.
/// Over all rounds each kind is equally often the first, the second and the third, and comes equally often
/// after each other kind. A turn ends when the store has nothing left to do, so none pays for another.
///
/// One request is compared with one request: a payment, a payment with a signed offer, and the form that
/// confirms a code. What comes before does not count: the signature, the ticket for the page of codes,
/// and the first form, which asks what a code gives as an app asks for the price of a product. The last two
/// are measured and shown by themselves. The two payments have a new token each, whose signature `payments`
/// checks; the form has a ticket instead.
struct BenchOffers: Sendable {
    /// The way in which a customer buys.
    enum Kind: CaseIterable, Sendable {
        case ordinary
        case promotional
        case code
    }

    /// A purchase that has only to be sent.
    private enum Prepared: Sendable {
        case payment(PaymentRequest)
        /// The form with which a customer confirms what a code gives.
        case form(String)
    }

    /// The purchases of one kind in a round.
    private struct Turn: Sendable {
        let kind: Kind
        let numbers: Range<Int>
        let prepared: [Int: Prepared]
        /// The processor time that the store needed for what comes before.
        let preparationSeconds: Double
    }

    let terminal: Terminal
    let store: StoreHarness
    /// The purchases of each kind.
    let count: Int

    /// The order of the turns in each round that counts: all orders that there are.
    static let orders: [[Kind]] = [
        [.ordinary, .promotional, .code], [.code, .promotional, .ordinary],
        [.promotional, .code, .ordinary], [.ordinary, .code, .promotional],
        [.code, .ordinary, .promotional], [.promotional, .ordinary, .code],
    ]
    private static let offer = OfferID(unchecked: "come_back")
    /// The time for which the store has to be quiet before it counts as having nothing left to do.
    private static let lull = Duration.milliseconds(300)
    /// The most of a core that a quiet store uses.
    private static let quietShare = 0.25

    /// The purchases of one kind in a round.
    private var size: Int { max(1, count / Self.orders.count) }
    /// The purchases of one kind in all rounds, with the one that warms up.
    private var purchases: Int { size * (Self.orders.count + 1) }
    private var subscribers: BenchSubscribers {
        BenchSubscribers(store: store, count: purchases * Kind.allCases.count)
    }

    /// Runs it.
    ///
    /// - Returns: All measurements.
    /// - Throws: ``HarnessError`` if a purchase is refused, or if the audit finds something.
    func run() async throws -> Result {
        try await sell()
        _ = try await store.administrator.freezeClock().value
        let start = ContinuousClock.now
        var accepted = try await lapse()
        terminal.done(
            "\(Terminal.describe(subscribers.count)) subscriptions are bought and ended",
            ContinuousClock.now - start
        )
        let codes = try await makeCodes()
        var tallies: [Kind: Tally] = [:]
        for round in 0...Self.orders.count {
            let turns = try await prepareRound(round, codes.dropFirst(round * size))
            try await untilQuiet()
            for turn in turns {
                let (measured, bought) = try await measure(turn.prepared, of: turn.numbers)
                accepted += bought
                guard round > 0 else { continue }
                var tally = measured
                tally.preparationSeconds = turn.preparationSeconds
                tallies[turn.kind, default: Tally()].add(tally)
            }
        }
        try await audit(accepted)
        return Result(
            ordinary: tallies[.ordinary] ?? Tally(),
            promotional: tallies[.promotional] ?? Tally(),
            code: tallies[.code] ?? Tally()
        )
    }

    /// Adds both offers to the subscription: three months for 0.99 USD each.
    private func sell() async throws {
        let terms = OfferTerms(
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            prices: [SampleCatalog.usa: SampleCatalog.usd(99)]
        )
        var draft = SampleCatalog.subscription()
        draft.promotionalOffers = [PromotionalOffer(id: Self.offer, terms: terms)]
        draft.codeOffers = [CodeOffer(id: Self.offer, terms: terms)]
        try await subscribers.sell(draft)
        try await store.waitUntilSellable(SampleCatalog.club)
    }

    /// Sells each customer a subscription, and lets all of them end.
    private func lapse() async throws -> [AcceptedPayment] {
        let accepted = try await subscribers.subscribe()
        let subscribers = subscribers
        let ids = Dictionary(uniqueKeysWithValues: accepted.map { ($0.account, $0.transactionID) })
        _ = try await subscribers.each(of: 0..<subscribers.count) { number -> Subscription in
            let client = try subscribers.client(number)
            guard let id = ids[client.account] else {
                throw HarnessError("\(client.account) has bought nothing.")
            }
            return try await eventually("a subscription to be cancelled") {
                let answer = try await client.setAutoRenew(false, of: id)
                return try answer.asksToTryAgain ? nil : answer.value.subscription
            }
        }
        try await subscribers.advance(by: "32d")
        return accepted
    }

    /// Makes a code for each purchase with one.
    private func makeCodes() async throws -> [String] {
        var codes: [String] = []
        while codes.count < purchases {
            let request = CodeCampaignRequest(
                bundleID: StoreKeys.bundleID,
                productID: SampleCatalog.club,
                offerID: Self.offer,
                count: min(purchases - codes.count, 10_000)
            )
            let made = try await store.administrator.raw(
                .POST,
                store.urls.payments + Routes.adminCodeCampaigns,
                body: Array(try JSONEncoder().encode(request))
            ).decode(CodeCampaignResponse.self)
            guard let more = made.codes, !more.isEmpty else {
                throw HarnessError("A campaign has no codes.")
            }
            codes += more
        }
        return codes
    }

    /// Does what comes before all purchases of a round, so that none of it lasts into their measurement.
    ///
    /// - Returns: The purchases in the order in which the kinds have their turns.
    private func prepareRound(_ round: Int, _ codes: ArraySlice<String>) async throws -> [Turn] {
        let kinds = Self.orders[max(round - 1, 0)]
        var turns: [Turn] = []
        for (place, kind) in kinds.enumerated() {
            let first = (round * kinds.count + place) * size
            let numbers = first..<first + size
            let before = ProcessCost.usages(of: store)
            let prepared = try await prepare(kind, for: numbers, codes)
            turns.append(
                Turn(
                    kind: kind,
                    numbers: numbers,
                    prepared: prepared,
                    preparationSeconds: storeSeconds(since: before)
                )
            )
        }
        return turns
    }

    /// Does what comes before the purchases of a kind in a round.
    private func prepare(
        _ kind: Kind,
        for numbers: Range<Int>,
        _ codes: ArraySlice<String>
    ) async throws -> [Int: Prepared] {
        let subscribers = subscribers
        let prepared = try await subscribers.each(of: numbers) { number -> (Int, Prepared) in
            switch kind {
            case .ordinary: return (number, Prepared.payment(.sample(SampleCatalog.club)))
            case .promotional:
                var request = PaymentRequest.sample(SampleCatalog.club)
                request.discount = try store.keys.discount(Self.offer, of: SampleCatalog.club)
                return (number, Prepared.payment(request))
            case .code:
                let code = codes[codes.startIndex + number - numbers.lowerBound]
                return (number, Prepared.form(try await form(of: code, for: number)))
            }
        }
        return Dictionary(uniqueKeysWithValues: prepared)
    }

    /// Opens the page for codes and types a code, up to the question whether to redeem it.
    private func form(of code: String, for number: Int) async throws -> String {
        let request = RedemptionTicketRequest(
            storefront: SampleCatalog.usa,
            paymentMethod: SandboxPaymentMethod.success.method
        )
        let ticket = try await subscribers.client(number).raw(
            .POST,
            store.urls.payments + Routes.redemptionTickets,
            body: Array(try JSONEncoder().encode(request))
        ).decode(RedemptionTicketResponse.self)
        guard let secret = ticket.path.split(separator: "=").last else {
            throw HarnessError("A ticket has no secret: \(ticket.path)")
        }
        let typed = "ticket=\(secret)&code=\(code)"
        let page = try await send(form: typed)
        let field = page.text.components(separatedBy: "name=\"confirmed\" value=\"").dropFirst()
            .first
        guard let mark = field?.components(separatedBy: "\"").first else {
            throw HarnessError("A code is refused with \(page.status): \(page.text)")
        }
        let text = mark.replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
        let encoded = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "\(typed)&confirmed=\(encoded)"
    }

    /// Sends a form of the page for codes until it is answered.
    private func send(form: String) async throws -> StoreResponse {
        try await eventually("a form to be answered") {
            let answer = try await StoreHTTP.send(
                .POST,
                store.urls.payments + Routes.redemptionPage,
                headers: [("content-type", "application/x-www-form-urlencoded")],
                body: Array(form.utf8)
            )
            return answer.status == 503 ? nil : answer
        }
    }

    /// Makes the purchases of one kind in a round, and waits until the store has nothing left to do.
    ///
    /// The time ends once the queues have all purchases. The processor time also has what follows then:
    /// other services are told of a delivery. A look at the queues costs PostgreSQL something, so it reads
    /// the new purchases only.
    private func measure(
        _ prepared: [Int: Prepared],
        of numbers: Range<Int>
    ) async throws -> (tally: Tally, accepted: [AcceptedPayment]) {
        let last = try await subscribers.newestTransaction()
        let before = ProcessCost.usages(of: store)
        let start = ContinuousClock.now
        let accepted = try await subscribers.each(of: numbers) { number -> AcceptedPayment? in
            switch prepared[number] {
            case .payment(let request): return try await subscribers.pay(request, as: number)
            case .form(let form):
                let page = try await send(form: form)
                guard page.status == 200 else {
                    throw HarnessError("A code is refused with \(page.status): \(page.text)")
                }
                return nil
            case nil: return nil
            }
        }
        try await subscribers.untilDelivered(numbers.count, after: last)
        let time = ContinuousClock.now - start
        try await untilQuiet()
        let tally = Tally(
            purchases: numbers.count,
            seconds: time.seconds,
            processorSeconds: Dictionary(
                ProcessCost.costs(of: store, since: before)
                    .filter(\.isOfStore)
                    .map { ($0.name, $0.cpuSeconds) },
                uniquingKeysWith: +
            )
        )
        return (tally, accepted.compactMap(\.self))
    }

    /// Waits until the store has done what its last requests lead to, but at most two or three seconds.
    private func untilQuiet() async throws {
        for _ in 0..<8 {
            let before = ProcessCost.usages(of: store)
            try await Task.sleep(for: Self.lull)
            if storeSeconds(since: before) < Self.lull.seconds * Self.quietShare { return }
        }
    }

    /// The processor time that the store has used since a moment.
    private func storeSeconds(since before: [ProcessCost.Usage]) -> Double {
        ProcessCost.costs(of: store, since: before).filter(\.isOfStore)
            .reduce(0.0) { $0 + $1.cpuSeconds }
    }

    /// Audits the books; the page for codes does not name its transactions, so they are asked for.
    private func audit(_ accepted: [AcceptedPayment]) async throws {
        let known = Set(accepted.map(\.transactionID))
        let subscribers = subscribers
        let newest = try await subscribers.each(
            of: 0..<subscribers.count
        ) { number -> [AcceptedPayment] in
            let client = try subscribers.client(number)
            return try await client.subscriptions().value.subscriptions.map { subscription in
                AcceptedPayment(
                    transactionID: subscription.period.transactionID,
                    account: subscription.accountID
                )
            }
        }
        let redeemed = newest.flatMap(\.self).filter { !known.contains($0.transactionID) }
        guard redeemed.count == purchases else {
            throw HarnessError("\(redeemed.count) codes were redeemed, and not \(purchases).")
        }
        try await subscribers.audit(accepted + redeemed, terminal)
    }
}

extension Terminal {
    /// Shows the cost of purchases with offers.
    func show(_ result: BenchOffers.Result) {
        func row(_ name: String, _ tally: BenchOffers.Tally) -> [String] {
            [
                name, Terminal.describe(Int(tally.rate)), Terminal.describe(Int(tally.cost)),
                String(format: "%.2f", result.costRatio(of: tally)),
                result.costRatios(of: tally).map { range in
                    String(format: "%.2f to %.2f", range.lowerBound, range.upperBound)
                } ?? "–",
            ]
        }
        table(
            [
                [
                    "subscriptions bought", "purchases/s", "CPU µs/purchase", "to ordinary",
                    "in its rounds",
                ],
                row("at the ordinary price", result.ordinary),
                row("with a promotional offer", result.promotional),
                row("with a code", result.code),
            ],
            rightAligned: [1, 2, 3, 4]
        )
        let processes = result.ordinary.processorSeconds.keys.sorted()
        table(
            [["CPU µs/purchase", "ordinary", "promotional", "code"]]
                + processes.map { process in
                    [process]
                        + [result.ordinary, result.promotional, result.code].map { tally in
                            Terminal.describe(Int(tally.cost(of: process)))
                        }
                },
            rightAligned: [1, 2, 3]
        )
        field(
            "before a code",
            "\(Terminal.describe(Int(result.code.preparationCost))) µs for its ticket and the question "
                + "what it gives, which are not in the table"
        )
    }
}
