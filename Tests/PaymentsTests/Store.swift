import EventTypes
import Foundation
import Logging
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Ledger
@testable import Payments

let startTime = StoreTime(millisecondsSinceEpoch: 1_800_000_000_000)
let alice = AuthenticatedAccount(
    accountID: AccountID(unchecked: "alice"),
    bundleID: BundleID(unchecked: "com.example.app")
)
let bob = AuthenticatedAccount(
    accountID: AccountID(unchecked: "bob"),
    bundleID: BundleID(unchecked: "com.example.app")
)

func usd(_ amount: Int64) -> Money {
    Money(minorUnits: amount, currency: Currency(unchecked: "USD"))
}

func product(
    _ id: String = "coins",
    _ type: ProductType = .consumable,
    price: Money = usd(999),
    version: Int = 1,
    isOnSale: Bool = true,
    isRestorable: Bool? = nil
) -> Product {
    Product(
        id: ProductID(unchecked: id),
        version: version,
        type: type,
        isOnSale: isOnSale,
        isRestorable: isRestorable ?? (type == .nonConsumable),
        prices: [Storefront(unchecked: "USA"): price],
        localizations: [:],
        deliveryPlan: [.credit(unit: "coins", amount: 100)]
    )
}

func request(
    _ product: String = "coins",
    quantity: Int = 1,
    storefront: String = "USA",
    price: Money = usd(999),
    method: SandboxPaymentMethod = .success,
    username: String? = nil,
    intent: PurchaseIntentID? = nil
) -> PaymentRequest {
    PaymentRequest(
        productID: ProductID(unchecked: product),
        quantity: quantity,
        storefront: Storefront(unchecked: storefront),
        price: price,
        paymentMethod: method.method,
        applicationUsername: username,
        purchaseIntentID: intent
    )
}

func transaction(
    _ state: TransactionState = .purchasing,
    price: Money = usd(999),
    type: ProductType = .consumable
) -> Transaction {
    let isOwned = state == .purchased || state == .restored
    return Transaction(
        id: TransactionID(number: 7),
        originalID: TransactionID(number: 7),
        reason: state == .restored ? .restore : .purchase,
        version: 3,
        state: state,
        accountID: alice.accountID,
        bundleID: alice.bundleID,
        productID: ProductID(unchecked: "coins"),
        productVersion: 1,
        productType: type,
        quantity: 1,
        storefront: Storefront(unchecked: "USA"),
        price: price,
        applicationUsername: nil,
        deliveryPlan: [.entitlement],
        requestedAt: startTime,
        purchasedAt: isOwned ? startTime : nil,
        originalPurchasedAt: isOwned ? startTime : nil,
        failureReason: state == .failed ? .paymentDeclined : nil
    )
}

/// `payments` without HTTP and Kafka, over its own database, driven step by step.
struct Store: Sendable {
    let client: PostgresClient
    let clock: ManualClock
    let processor: FaultyProcessor
    let payments: PaymentHandler
    let context: PaymentsContext
    let outcomes: OutcomeHandler
    let runner: ChargeRunner
    let approvals: ApprovalHandler
    let refunds: RefundHandler
    let restores: RestoreHandler
    let accounts: AccountHandler
    let resumptions: ResumptionHandler
    let renewals: RenewalHandler
    let subscriptions: SubscriptionHandler
    /// Attempts that are committed but not carried out yet.
    let pending: Pending

    final class Pending: Sendable {
        private let attempts = Mutex<[ProcessorAttempt]>([])
        func append(_ more: [ProcessorAttempt]) { attempts.withLock { $0 += more } }
        func take() -> [ProcessorAttempt] {
            attempts.withLock { attempts in
                defer { attempts = [] }
                return attempts
            }
        }
    }

    init(
        client: PostgresClient,
        books: PostgresClient? = nil,
        clock: ManualClock = ManualClock(startTime),
        tax: TaxRates = TaxRates(),
        policy: AttemptPolicy = AttemptPolicy(callsMax: 3),
        offerKeys: OfferKeys = OfferSigner.shared.keys,
        now: (@Sendable () -> StoreTime)? = nil,
        machineNow: (@Sendable () -> MachineTime)? = nil,
        followClock: @escaping @Sendable (FollowedClock) -> Void = { _ in }
    ) {
        self.clock = clock
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let pending = Pending()
        self.client = client
        self.pending = pending
        processor = FaultyProcessor(
            SandboxProcessor(
                store: SandboxStore(client: books ?? client),
                slowness: .zero,
                logger: logger
            )
        )
        let now: @Sendable () -> StoreTime = now ?? clock.now
        let products = ProductStore()
        let context = PaymentsContext(
            client: client,
            policy: policy,
            owner: LeaseOwner(time: startTime.onMachines),
            environment: .sandbox,
            subscriptions: .inTests,
            logger: logger,
            now: now,
            machineNow: machineNow ?? clock.machineNow,
            followClock: followClock
        )
        payments = PaymentHandler(
            context: context,
            processor: processor,
            products: products,
            tax: tax,
            offerKeys: offerKeys,
            didCommit: { pending.append($0) }
        )
        self.context = context
        outcomes = OutcomeHandler(context: context)
        let runner = ChargeRunner(processor: processor, context: context)
        self.runner = runner
        approvals = ApprovalHandler(context: context, didCommit: { pending.append($0) })
        refunds = RefundHandler(context: context, runner: runner, didCommit: {})
        resumptions = ResumptionHandler(
            context: context,
            processor: processor,
            products: products,
            didCommit: { pending.append($0) }
        )
        renewals = RenewalHandler(
            context: context,
            products: products,
            tax: tax,
            didCommit: { pending.append($0) }
        )
        subscriptions = SubscriptionHandler(
            context: context,
            products: products,
            mayPay: { method, _, _ in SandboxPaymentMethod(method) != nil },
            renewals: renewals,
            endCharges: { await runner.end($0) },
            didCommit: {}
        )
        restores = RestoreHandler(context: context, didCommit: {})
        accounts = AccountHandler(client: client, products: products, now: now, didCommit: {})
    }

    /// Carries out all committed attempts and those that follow from them.
    func settle() async throws {
        await runner.carryOut(pending.take())
        await runner.drain()
    }

    /// Lets leases and pauses pass, and recovers due attempts until none is left.
    func recover(after duration: Duration = .seconds(11)) async throws {
        clock.advance(by: duration)
        while try await runner.recover() > 0 {
            await runner.drain()
        }
    }

    @discardableResult
    func add(_ request: PaymentRequest, key: String, of account: AuthenticatedAccount = alice)
        async throws -> Transaction
    {
        let replies = try await payments.accept([
            PaymentSubmission(account: account, idempotencyKey: key, request: request)
        ])
        return try transaction(in: try #require(replies.first))
    }

    /// Adds a payment, and has it charged and finished.
    @discardableResult
    func buy(_ request: PaymentRequest, key: String, of account: AuthenticatedAccount = alice)
        async throws -> Transaction
    {
        let added = try await add(request, key: key, of: account)
        try await settle()
        return try await load(added.id)
    }

    func finish(_ id: TransactionID) async throws {
        let time = clock.now()
        try await client.withTransaction { try TransactionStore.finish([(id, time)], on: $0) }
    }

    func transaction(in reply: PaymentReply) throws -> Transaction {
        switch reply {
        case .accepted(let body, _):
            return try JSONDecoder().decode(TransactionResponse.self, from: Data(body)).transaction
        case .refused(let refusal): throw refusal
        }
    }

    func load(_ id: TransactionID) async throws -> Transaction {
        let record = try await client.withConnection { try TransactionStore.load([id], on: $0)[id] }
        return try #require(record?.transaction)
    }

    func sell(_ products: Product...) async throws {
        let published = try products.map { product in
            try PublishedProduct(
                of: product,
                in: EventCoding.encode(ProductChanged(product: product))
            )
        }
        let time = clock.now()
        try await client.withTransaction { connection in
            try ProjectionHandler.store(published.map { ($0, time) }, on: connection)
        }
    }

    func count(_ table: String) async throws -> Int {
        try await client.withConnection { connection in
            let rows = try connection.query("SELECT count(*) FROM \(unsafe: table)")
            let row = try #require(rows.first)
            let count = try row.decode(Int64.self)
            return Int(count)
        }
    }

    /// The numbers of rows in every table that a payment could write to.
    func counts() async throws -> [Int] {
        var counts: [Int] = []
        for table in [
            "transactions", "processor_attempts", "ownerships", "restores", "outbox",
            "ledger_postings", "sandbox_processor.charges",
        ] {
            counts.append(try await count(table))
        }
        return counts
    }

    func eventTypes(of id: TransactionID) async throws -> [String] {
        try await client.withConnection { connection in
            try connection.query(
                "SELECT type FROM outbox WHERE subject = \(id.rawValue) ORDER BY position"
            ).map { try $0.decode(String.self) }
        }
    }

    /// The acts in the events of a transaction, in words, after the types of these events.
    func acts(of id: TransactionID) async throws -> [String] {
        try await client.withConnection { connection in
            try connection.query(
                """
                SELECT type, unpacked_json(data)::json -> 'act' FROM outbox
                WHERE subject = \(id.rawValue) ORDER BY position
                """
            ).compactMap { row in
                let (type, act) = try row.decode(String.self, PostgresJSON?.self)
                return try act.map { "\(type) \(try $0.decode(Act.self))" }
            }
        }
    }

    func postings(of id: TransactionID) async throws -> [PostingKind] {
        let kinds = try await client.withConnection {
            try LedgerStore.postings(of: id, on: $0).map(\.kind)
        }
        return PostingKind.allCases.filter(kinds.contains)
    }

    func booksBalance() async throws -> Bool {
        try await client.withConnection {
            try LedgerStore.trialBalance(on: $0).allSatisfy(\.isBalanced)
        }
    }
}

extension SubscriptionStateMachine {
    /// A machine that counts in UTC, without a grace period.
    ///
    /// Charges are not spread, so that their times are known.
    static var inTests: SubscriptionStateMachine {
        var policy = SubscriptionPolicy(calendar: PeriodCalendar(timeZone: .gmt))
        policy.spread = .zero
        return SubscriptionStateMachine(policy: policy)
    }
}

extension ChargeRunner {
    /// Carries out the queued attempts and those that follow from them.
    func drain() async {
        while let queue = queues.values.first(where: { $0.count > 0 }) {
            await carryOut(await queue.next(256))
        }
    }
}

/// Runs a test on a fresh database, with the rights of the service's role.
func withStore(
    tax: TaxRates = TaxRates(),
    policy: AttemptPolicy = AttemptPolicy(callsMax: 3),
    poolSize: Int = 2,
    _ body: @Sendable (Store) async throws -> Void
) async throws {
    try await withTestDatabase(migrations: PaymentsMigrations.all) { database in
        try await database.withClient(role: PaymentsMigrations.role, poolSize: poolSize) { client in
            let store = Store(client: client, tax: tax, policy: policy)
            try await store.sell(product(), product("film", .nonConsumable))
            try await body(store)
        }
    }
}
