import EventTypes
import Foundation
import NIOHTTP1
import Postgres
import StoreAPI
import StoreHarness

/// The life of one subscription: it is bought, renewed, upgraded, not paid, recovered, cancelled, and
/// it lapses.
///
/// The store's clock is frozen and advanced with `counterfoil clock advance`, so months take moments.
struct SubscriptionStory {
    private let terminal: Terminal
    private let store: StoreHarness
    private let client: StoreClient
    /// The postings of the ledger that were shown.
    private var told: Set<String> = []

    init(terminal: Terminal, store: StoreHarness) throws {
        self.terminal = terminal
        self.store = store
        client = try store.client(account: "ada")
    }

    /// The settings that the story needs: sixteen days of grace.
    static let settings: [StoreService: [String: String]] = [
        .payments: ["SUBSCRIPTION_GRACE_DAYS": "16"]
    ]

    /// Tells the story.
    ///
    /// - Returns: `true`: a step that does not do what it should throws.
    /// - Throws: ``HarnessError`` if the store does not do what it should.
    mutating func tell() async throws -> Bool {
        for product in [SampleCatalog.club, SampleCatalog.gold] {
            try await store.waitUntilSellable(product)
        }
        try await buy()
        try await renew()
        try await upgrade()
        try await fail()
        try await recover()
        try await cancel()
        try await lapse()
        try await prove()
        return true
    }

    private mutating func buy() async throws {
        terminal.heading("1  Buy: ada joins the club for 2.99 USD a month")
        try await operate("clock", "freeze")
        try await pay(for: SampleCatalog.club, by: .success)
        try await finish(1)
        try await show(.active, SampleCatalog.club, isAutoRenewOn: true)
    }

    private mutating func renew() async throws {
        terminal.heading("2  Renew: a month later the store charges for the next period")
        try await operate("clock", "advance", "31d")
        try await finish(1)
        try await show(.active, SampleCatalog.club, isAutoRenewOn: true)
    }

    private mutating func upgrade() async throws {
        terminal.heading("3  Upgrade: the gold club replaces the club at once")
        try await operate("clock", "advance", "9d")
        // The next four charges for a renewal will be declined.
        try await pay(for: SampleCatalog.gold, by: .renewalRecovers)
        // The refund is a call of its own, which may end after the delivery.
        try await finish(1, postings: 2)
        terminal.line("  The unused part of the club's month goes back to ada.", .dim)
        try await show(.active, SampleCatalog.gold, isAutoRenewOn: true)
    }

    private mutating func fail() async throws {
        terminal.heading("4  Fail and grace: no charge succeeds, and ada keeps what she has")
        let end = try await subscription().period.end
        try await advance(to: end.advanced(by: .seconds(7200)))
        try await show(.inGracePeriod, SampleCatalog.gold, isAutoRenewOn: true)
    }

    private mutating func recover() async throws {
        terminal.heading("5  Recover: the fifth try succeeds, and there is no gap")
        let before = try await subscription().period
        try await operate("clock", "advance", "2d")
        try await finish(1)
        let after = try await show(.active, SampleCatalog.gold, isAutoRenewOn: true)
        guard after.period.start == before.end else {
            throw HarnessError("A recovery in the grace period left a gap: \(after.period)")
        }
    }

    private mutating func cancel() async throws {
        terminal.heading("6  Cancel: ada turns the renewal off, and keeps what she has paid for")
        let id = try await subscription().id
        let body = #"{"isOn":false}"#
        let answer = try await client.raw(
            .PUT,
            client.urls.payments + Routes.autoRenew(id),
            body: Array(body.utf8)
        )
        terminal.line("  " + terminal.styled("→ PUT", .cyan) + " \(Routes.autoRenew(id))  \(body)")
        terminal.line("  " + terminal.styled("← \(answer.status)", .green))
        try await show(.active, SampleCatalog.gold, isAutoRenewOn: false)
    }

    private mutating func lapse() async throws {
        terminal.heading("7  Lapse: the period ends, and with it what ada owned")
        try await operate("clock", "advance", "31d")
        try await show(.expired, SampleCatalog.gold, isAutoRenewOn: false)
    }

    /// Shows that all books agree.
    private func prove() async throws {
        terminal.heading("8  The proof: every book agrees, and the event log makes them again")
        // The last finish is on its way to the other services.
        try await operate("reconcile", "--settled", "0", "--wait", "60")
        try await operate("replay", "--verify")
    }

    // MARK: - What ada and the operator do

    private func pay(for product: ProductID, by method: SandboxPaymentMethod) async throws {
        let answer = try await client.addUntilAnswered(.sample(product, by: method))
        let id = try answer.value.transaction.id
        terminal.line("  " + terminal.styled("→ POST", .cyan) + " \(Routes.payments)  \(product)")
        terminal.line(
            "  " + terminal.styled("← \(answer.status)", .green) + "  transaction \(id)"
        )
    }

    /// Waits for delivered transactions, finishes them, and shows them with what was posted.
    private mutating func finish(_ count: Int, postings: Int = 1) async throws {
        let client = client
        let queued = try await eventually("\(count) to be delivered") {
            let queued = try await client.unfinished().value.transactions
            return queued.count == count && queued.allSatisfy(\.isDelivered) ? queued : nil
        }
        var rows = [["transaction", "reason", "product", "price", "from", "to"]]
        for transaction in queued.map(\.transaction) {
            try await client.finishUntilDone(transaction.id)
            rows.append([
                transaction.id.rawValue, transaction.reason.rawValue,
                transaction.productID.rawValue, "\(transaction.price)",
                Self.text(transaction.subscription?.start),
                Self.text(transaction.subscription?.end),
            ])
        }
        terminal.table(rows, rightAligned: [3])
        try await showLedger(postings)
    }

    /// Advances the store's clock to a time.
    private func advance(to time: StoreTime) async throws {
        let clock = try await store.administrator.raw(
            .GET,
            store.urls.payments + Routes.adminClock
        ).decode(ClockResponse.self)
        guard let span = ClockSpan(time.duration(since: clock.now)) else {
            throw HarnessError("The clock is past \(time) already.")
        }
        try await operate("clock", "advance", "\(span)")
    }

    private func operate(_ words: String...) async throws {
        let answer = try await store.counterfoil(words)
        say(words, answer)
        guard answer.exit == .code(0) else {
            throw HarnessError("counterfoil \(words.joined(separator: " ")): \(answer.exit)")
        }
    }

    private func say(_ words: [String], _ answer: ProgramAnswer) {
        terminal.line(
            "  " + terminal.styled("$ counterfoil \(words.joined(separator: " "))", .cyan)
        )
        for line in answer.output.split(separator: "\n") { terminal.line("    \(line)", .dim) }
    }

    // MARK: - What they see

    private func subscription() async throws -> Subscription {
        let answer = try await client.raw(.GET, client.urls.payments + Routes.subscriptions)
        guard
            let own = try answer.decode(SubscriptionsResponse.self).subscriptions.first
        else { throw HarnessError("There is no subscription: \(answer.text)") }
        return own
    }

    /// Shows the subscription, once everything knows that it is in a state.
    @discardableResult
    private mutating func show(
        _ state: SubscriptionState,
        _ product: ProductID,
        isAutoRenewOn: Bool
    ) async throws -> Subscription {
        let story = self
        let (known, owned) = try await eventually("it to be \(state)") {
            let known = try await story.subscription()
            let owned = try await story.client.entitlements().value.entitlements
                .filter { $0.productID == known.product.id && $0.revokedAt == nil }
                .compactMap(\.endsAt).max()
            guard known.state == state, known.product.id == product,
                known.isAutoRenewOn == isAutoRenewOn,
                owned == known.entitlementEnd ?? known.period.end
            else { return (Subscription, StoreTime?)?.none }
            return (known, owned)
        }
        terminal.field("state", state.rawValue, state == .active ? .green : .yellow)
        terminal.field("product", known.product.id.rawValue)
        let (start, end) = (known.period.start, known.period.end)
        terminal.field("period", "\(Self.text(start)) to \(Self.text(end))")
        terminal.field("next charge", known.nextPrice.map { "\($0)" } ?? "none")
        terminal.field(state == .expired ? "owned until" : "owns it until", Self.text(owned))
        return known
    }

    /// Waits for new postings, and shows them.
    private mutating func showLedger(_ count: Int) async throws {
        let story = self
        let news = try await eventually("\(count) new in the ledger") {
            let news = try await story.ledger().filter { !story.told.contains($0.posting) }
            return Set(news.map { $0.posting }).count >= count ? news : nil
        }
        told.formUnion(news.map { $0.posting })
        let lines = news.map { $0.line }
        terminal.table([["posting", "account", "amount"]] + lines, rightAligned: [2])
    }

    /// The lines of the ledger, with the id of each one's posting.
    private func ledger() async throws -> [(posting: String, line: [String])] {
        try await store.withDatabase(of: .payments) { connection in
            try connection.query(
                """
                SELECT posting_id::text, kind, account, amount, currency FROM ledger_entries
                ORDER BY posting_id, entry_number
                """
            ).map { row in
                try row.decode(String.self, String.self, String.self, Int64.self, String.self)
            }.map { posting, kind, account, amount, currency in
                let money = Money(minorUnits: amount, currency: Currency(unchecked: currency))
                return (posting: posting, line: [kind, account, "\(money)"])
            }
        }
    }

    /// A time to the minute: `2026-11-24 09:00`.
    private static func text(_ time: StoreTime?) -> String {
        time.map { String($0.description.prefix(16)).replacing("T", with: " ") } ?? "-"
    }
}
