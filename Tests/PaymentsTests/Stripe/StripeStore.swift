import AsyncHTTPClient
import EventTypes
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Postgres
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Payments

/// `payments` over its own database, which charges at a stand-in for Stripe on a real socket.
struct StripeStore: Sendable {
    let client: PostgresClient
    let clock: ManualClock
    let standIn: StandInServer
    let stripe: StripeClient
    /// The address of the stand-in, and the key that it takes.
    let url: String
    let key: String
    let account: StripeAccount
    let charging: RoutedStripe
    let payments: PaymentHandler
    let runner: ChargeRunner
    let refunds: RefundHandler
    let methods: PaymentMethodHandler
    let events: ProcessorEventHandler
    let actions: BuyerActionHandler
    let pending: Store.Pending

    static let key = "rk_test_abcdefgh1"

    init(
        client: PostgresClient,
        standIn: StandInServer,
        url: String,
        key text: String = StripeStore.key,
        clock shared: ManualClock? = nil,
        others: [StripeAccount] = [],
        apps: [BundleID: ProcessorAccountName] = [:],
        timeout: Duration = .seconds(60),
        logger: Logger? = nil
    ) throws {
        // The stand-in has the machine's clock, and compares times with it.
        let start = Int64(Date().timeIntervalSince1970) * 1000
        let clock = shared ?? ManualClock(StoreTime(millisecondsSinceEpoch: start))
        let logger = logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let account = try Self.account(
            client: client,
            url: url,
            key: text,
            clock: clock,
            timeout: timeout
        )
        let accounts = StripeAccounts(first: account, others: others, apps: apps)
        let charging = RoutedStripe(
            accounts: accounts,
            homes: SavedMethodReader(client: client).homes(of:),
            buyers: SavedMethodReader(client: client).buyers(of:),
            logger: logger
        )
        let methods = PaymentMethodHandler(
            client: client,
            accounts: accounts,
            now: clock.machineNow
        )
        let context = PaymentsContext(
            client: client,
            policy: AttemptPolicy(callsMax: 3),
            owner: LeaseOwner(time: clock.machineNow()),
            environment: .sandbox,
            simulatesCharges: false,
            subscriptions: .inTests,
            logger: logger,
            now: clock.now,
            machineNow: clock.machineNow
        )
        let pending = Store.Pending()
        let runner = ChargeRunner(processor: charging, context: context)
        self.client = client
        self.clock = clock
        self.standIn = standIn
        stripe = account.client
        self.url = url
        self.key = text
        self.account = account
        self.charging = charging
        self.runner = runner
        self.methods = methods
        self.pending = pending
        payments = PaymentHandler(
            context: context,
            processor: charging,
            products: ProductStore(),
            tax: TaxRates(),
            offerKeys: OfferSigner.shared.keys,
            didCommit: { pending.append($0) }
        )
        refunds = RefundHandler(context: context, runner: runner, didCommit: {})
        events = ProcessorEventHandler(
            client: client,
            account: account,
            methods: methods,
            runner: runner,
            disputes: DisputeHandler(context: context, runner: runner),
            environment: .sandbox,
            now: clock.machineNow,
            logger: logger
        )
        actions = BuyerActionHandler(client: client, processor: charging, runner: runner)
    }

    /// Makes the way to an account at a stand-in.
    static func account(
        _ name: ProcessorAccountName = .default,
        client: PostgresClient,
        url: String,
        key text: String = StripeStore.key,
        clock: ManualClock,
        timeout: Duration = .seconds(60),
        returnURLs: [BundleID: String] = [:]
    ) throws -> StripeAccount {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let key = try StripeKey(text, environment: .sandbox)
        let saved = SavedMethodReader(client: client)
        let processor = StripeProcessor(
            client: StripeClient(
                StripeClient.Settings(baseURL: url, connectTimeout: timeout, timeout: timeout),
                logger: logger
            ) { key },
            gate: StripeGate(to: name, rate: 1000, logger: logger),
            customers: saved.customers(of:),
            unusable: saved.unusable(of:),
            returnURLs: ReturnURLs(first: "https://app.example.com/back", apps: returnURLs),
            now: clock.machineNow,
            logger: logger
        )
        return StripeAccount(name: name, processor: processor)
    }

    var processor: StripeProcessor { account.processor }

    /// Saves a card as a buyer's app does: the store begins, and the app gives the card to Stripe.
    func save(
        _ card: String = "pm_card_visa",
        of account: AuthenticatedAccount = alice,
        at url: String? = nil
    ) async throws -> PaymentMethod {
        let key = account.accountKey
        let setup = try await methods.begin(for: key)
        let known = Set(try await methods.methods(of: key).map(\.token))
        let path = "/v1/setup_intents/\(setup.id)/confirm"
        try await post(path, "payment_method=\(card)", at: url)
        #expect(try await methods.complete(setup.id, for: key) == .saved)
        let saved = try await methods.methods(of: key).map(\.token)
        return try #require(saved.first { !known.contains($0) })
    }

    /// Puts a product on sale.
    func sell(_ product: Product) async throws {
        let published = try PublishedProduct(
            of: product,
            in: EventCoding.encode(ProductChanged(product: product))
        )
        try await client.withTransaction { try ProductStore.store([published], on: $0) }
    }

    /// Calls a stand-in as an app does.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - form: The body.
    ///   - other: The address of the stand-in; by default the one of the first account.
    /// - Returns: The body of the answer.
    /// - Throws: An error of the call.
    @discardableResult
    func post(_ path: String, _ form: String, at other: String? = nil) async throws -> Data {
        var request = HTTPClientRequest(url: (other ?? url) + path)
        request.method = .POST
        request.headers.add(name: "authorization", value: "Bearer \(key)")
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(Array(form.utf8))
        let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        #expect((200..<300).contains(answer.status.code))
        return Data(try await answer.body.collect(upTo: 1 << 20).readableBytesView)
    }

    @discardableResult
    func add(
        by method: PaymentMethod,
        key: String = "a",
        of account: AuthenticatedAccount = alice,
        for product: String = "coins",
        at price: Money = usd(999)
    ) async throws -> Transaction {
        let replies = try await payments.accept([
            PaymentSubmission(
                account: account,
                idempotencyKey: key,
                request: PaymentRequest(
                    productID: ProductID(unchecked: product),
                    quantity: 1,
                    storefront: Storefront(unchecked: "USA"),
                    price: price,
                    paymentMethod: method
                )
            )
        ])
        switch try #require(replies.first) {
        case .accepted(let body, _):
            return try JSONDecoder().decode(TransactionResponse.self, from: Data(body)).transaction
        case .refused(let refusal): throw refusal
        }
    }

    /// Adds a payment and has it charged.
    func buy(by method: PaymentMethod, key: String = "a") async throws -> Transaction {
        let added = try await add(by: method, key: key)
        await runner.carryOut(pending.take())
        await runner.drain()
        return try await load(added.id)
    }

    /// The key of another renewal.
    var renewalKey: CallKey {
        CallKey(attemptID: IDSource.random.attempt(at: clock.now()), kind: .charge)
    }

    /// Charges for a renewal, while the buyer is away.
    func renew(
        by card: PaymentMethod,
        _ key: CallKey? = nil,
        isRepeated: Bool = false
    ) async throws -> ChargeOutcome {
        let found = Mutex<ChargeOutcome?>(nil)
        let request = ChargeRequest(
            key: key ?? renewalKey,
            paymentMethod: card,
            amount: usd(999),
            isApproved: true,
            renewalTry: 2,
            transactionID: TransactionID(number: 9),
            isRepeated: isRepeated
        )
        await charging.charge([request]) { _, outcome in found.withLock { $0 = outcome } }
        return try #require(found.withLock { $0 })
    }

    func load(_ id: TransactionID) async throws -> Transaction {
        let record = try await client.withConnection { try TransactionStore.load([id], on: $0)[id] }
        return try #require(record?.transaction)
    }

    /// Lets leases and pauses pass, and recovers due attempts until none is left.
    func recover(after duration: Duration = .seconds(31)) async throws {
        clock.advance(by: duration)
        while try await runner.recover() > 0 { await runner.drain() }
    }

    func charge(of id: TransactionID) async throws -> ProcessorAttempt {
        let key = AttemptKey(transactionID: id, kind: .charge)
        let attempts = try await client.withTransaction {
            try $0.read(AttemptStore.locking(of: [id]))
        }
        return try #require(attempts[key])
    }

    func counts(_ tables: String...) async throws -> [Int64] {
        try await client.withConnection { connection in
            try tables.map { table in
                let rows = try connection.query("SELECT count(*) FROM \(unsafe: table)")
                return try #require(rows.first).decode(Int64.self)
            }
        }
    }

    /// The minor units that the stand-in has charged, less those that it has given back.
    var paid: Int64 {
        standIn.entries.reduce(0) { $0 + ($1.kind == "charge" ? $1.amount : -$1.amount) }
    }
}

/// Runs a test on a fresh database and a fresh stand-in.
///
/// - Parameters:
///   - timeout: The longest time of a call. It is long, so that no call fails on a busy machine.
///   - body: The test.
/// - Throws: An error of the test, or of the database or the stand-in when they start.
func withStripeStore(
    timeout: Duration = .seconds(60),
    _ body: @escaping @Sendable (StripeStore) async throws -> Void
) async throws {
    try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
        try await database.withClient(role: PaymentsMigrations.role, poolSize: 4) { client in
            let server = StandInServer()
            let (urls, running) = AsyncStream<String>.makeStream()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await server.run(logger: logger) { running.yield($0) } }
                for await url in urls {
                    let store = try StripeStore(
                        client: client,
                        standIn: server,
                        url: url,
                        timeout: timeout
                    )
                    try await store.sell(product())
                    do { try await body(store) } catch {
                        await store.stripe.shutDown()
                        throw error
                    }
                    await store.stripe.shutDown()
                    break
                }
            }
        }
    }
}
