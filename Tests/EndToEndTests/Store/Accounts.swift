import EventTypes
import NIOHTTP1
import Postgres
import StoreAPI
import Synchronization
import Testing
import TestSupport

extension EndToEnd {
    /// Account settings that the store sends to clients without a request (spec rules 1 to 9, 114
    /// and 116).
    @Suite
    struct Accounts {
        static let france = Storefront(unchecked: "FRA")

        @Test func aBlockedAccountIsRefusedWithTheReason() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let stream = StreamRecord(client)
                #expect(try await client.storeAccount().value.account.version == 0)
                try await store.change("ada", canMakePayments: false)
                try await stream.account("blocked") { !$0.canMakePayments }
                let refused = try await client.add(.sample(), key: "a")
                #expect(refused.status == 403 && refused.problem?.code == "payments_not_allowed")
                let other = try await store.buy(as: "bob")
                try await store.change("ada", canMakePayments: true)
                try await stream.account("allowed again") { $0.canMakePayments && $0.version == 2 }
                // The key was not used up.
                let paid = try await client.add(.sample(), key: "a").value.transaction
                try await store.expectWhole([other, AcceptedPayment(paid)])
                // A new connection receives it immediately.
                let anew = StreamRecord(client)
                try await anew.account("what it received before") { $0.version == 2 }
            }
        }

        @Test func storefrontChangeReachesAnIdleStreamAndTheOldOneIsRefused() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let first = try await store.buy()
                try await store.expectWhole([first])
                let stream = StreamRecord(client)
                try await store.change("ada", storefront: Self.france)
                try await stream.account("in France") { $0.storefront == Self.france }
                let refused = try await client.add(.sample())
                #expect(refused.status == 409 && refused.problem?.code == "storefront_changed")
                #expect(refused.problem?.currentStorefront == Self.france)
                // After seeing the local prices, the buyer continues.
                let listing = try #require(
                    try await client.products([SampleCatalog.coins.rawValue], storefront: "FRA")
                        .value.products.first
                )
                var request = PaymentRequest.sample()
                request.storefront = Self.france
                request.price = listing.price
                let second = try await client.add(request).value.transaction
                #expect(second.price == listing.price)
                try await store.expectWhole([first, AcceptedPayment(second)])
            }
        }

        @Test(.onlySandbox("No card waits for approval."))
        func deferredOneOfAnotherStorefrontIsNotCharged() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let asked = try await store.buy(by: .needsApproval)
                try await client.wait(for: asked.transactionID, toBe: .deferred)
                try await store.change("ada", storefront: Self.france)
                let decided = try await store.administrator.decide(
                    .approve,
                    on: asked.transactionID
                ).value.transaction
                #expect(decided.failureReason == .storefrontChanged)
                try await store.finish([asked])
                let report = try await store.quietAudit([asked])
                #expect(report.violations.isEmpty, "\(report.verdict)")
                #expect(report.count("charges") == 0 && report.count("failed") == 1)
            }
        }

        @Test func promotedPurchaseIsPaidOnceAndThenGone() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let stream = StreamRecord(client)
                let intent = try await store.begin()
                let unwanted = try await store.begin(SampleCatalog.hint)
                try await stream.account("both intents") {
                    $0.purchaseIntents.map(\.id) == [intent.id, unwanted.id]
                }
                for _ in 0..<2 {
                    let account = try await client.decline(unwanted.id).value.account
                    #expect(account.purchaseIntents == [intent])
                }
                var request = PaymentRequest.sample()
                request.purchaseIntentID = intent.id
                async let one = client.add(request, key: "one")
                async let two = client.add(request, key: "two")
                let answers = try await [one, two]
                #expect(answers.map(\.status).sorted() == [201, 409])
                #expect(answers.compactMap(\.problem?.code) == ["purchase_intent_unknown"])
                try await stream.account("no intent any more") {
                    $0.purchaseIntents.isEmpty && $0.version == 4
                }
                let paid = answers.compactMap(\.valueIfAny).map {
                    AcceptedPayment($0.transaction)
                }
                try await store.expectWhole(paid)
            }
        }

        @Test(.onlySandbox("A card is interrupted only by its buyer, and resumed by naming it."))
        func anInterruptedPurchaseIsResumedOnceAndChargedOnce() async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let failed = try await store.buy(by: .interrupted)
                let reason = try await client.wait(for: failed.transactionID, toBe: .failed)
                    .failureReason
                #expect(reason == .interrupted && reason?.storeKitErrorCode == 0)
                // The payment is resumed, and the service is killed before anybody is informed.
                let hold = try #require(store.kafkaProxy).hold(
                    at: .beforeRequest(
                        .produce,
                        client: StoreService.payments.rawValue,
                        containing: Topics.paymentsTransactions.name
                    )
                )
                let resumed = try await store.administrator.resume(failed.transactionID).value
                    .transaction
                try await store.crash(.payments, at: hold)
                let again = try await store.administrator.resume(failed.transactionID).value
                    .transaction
                #expect(again.id == resumed.id && again.id != failed.transactionID)
                // The client sees both transactions, and the failed one does not change.
                var states: [TransactionID: TransactionState] = [:]
                for try await event in client.queue() {
                    guard let transaction = event.change?.transaction else { continue }
                    states[transaction.id] = transaction.state
                    if states[resumed.id] == .purchased { break }
                }
                #expect(states == [failed.transactionID: .failed, resumed.id: .purchased])
                let payments = [failed, AcceptedPayment(resumed)]
                try await store.finish(payments)
                let report = try await store.quietAudit(payments)
                #expect(report.violations.isEmpty, "\(report.verdict)")
                #expect(report.count("charges") == 1 && report.count("postings") == 1)
                let other = try await store.administrator.resume(resumed.id)
                #expect(other.status == 409 && other.problem?.code == "not_interrupted")
            }
        }

        @Test func aChangeAnsweredBeforeAKillIsPublishedAfterIt() async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada")
                let stream = StreamRecord(client)
                let intent = try await store.begin()
                try await stream.account("the intent") { $0.purchaseIntents == [intent] }
                // The change is committed and answered, but not published.
                let proxy = try #require(store.kafkaProxy)
                let hold = proxy.hold(
                    at: .beforeRequest(
                        .produce,
                        client: StoreService.payments.rawValue,
                        containing: Topics.paymentsTransactions.name
                    )
                )
                var request = PaymentRequest.sample()
                request.purchaseIntentID = intent.id
                let paid = try await client.add(request, key: "a").value.transaction
                try await store.crash(.payments, at: hold)
                try await stream.account("no intent any more") { $0.purchaseIntents.isEmpty }
                let again = try await client.addUntilAnswered(request, key: "a").value.transaction
                #expect(again.id == paid.id)
                let late = try await client.addUntilAnswered(request, key: "b")
                #expect(late.problem?.code == "purchase_intent_unknown")
                try await store.expectWhole([AcceptedPayment(paid)])
            }
        }

        @Test func administratorsAndBuyersEachGetTheirOwn() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                let client = try store.client(account: "ada/7@example.com")
                let path = store.urls.payments + Routes.adminAccount(client.account)
                let saved = try await store.administrator.change(
                    client.account,
                    AccountChangeRequest(
                        bundleID: StoreKeys.bundleID,
                        storefront: SampleCatalog.usa
                    )
                ).value.account
                #expect(saved.accountID == client.account)
                #expect(try await client.storeAccount().value.account == saved)
                let read = try await store.administrator.raw(
                    .GET,
                    path + "?bundleID=\(StoreKeys.bundleID)"
                )
                #expect(try read.decode(AccountResponse.self).account == saved)
                for (method, url, body, status, code) in Self.refusals(of: path, client) {
                    let answer = try await store.administrator.raw(
                        method,
                        url,
                        body: body.map { Array($0.utf8) }
                    )
                    #expect(answer.status == status, "\(url) \(answer.text)")
                    #expect(try answer.decode(Problem.self).code == code)
                }
                for method in [HTTPMethod.GET, .PUT] {
                    #expect(try await client.raw(method, path, body: []).status == 401)
                }
                let unknown = PurchaseIntentID(unchecked: "nothing")
                #expect(try await client.decline(unknown).status == 404)
                #expect(try await client.storeAccount().value.account == saved)
            }
        }

        private static func refusals(
            of path: String,
            _ client: StoreClient
        ) -> [(HTTPMethod, String, String?, Int, String)] {
            let app = #""bundleID":"\#(StoreKeys.bundleID)""#
            return [
                (.GET, path, nil, 400, "query_invalid"),
                (.PUT, path, "{\(app)}", 400, "account_change_empty"),
                (.PUT, path, #"{\#(app),"storefront":"ZZZ"}"#, 400, "malformed_json"),
                (
                    .POST, path + "/purchase-intents",
                    #"{\#(app),"productID":"com.example.nothing","quantity":1}"#, 400,
                    "product_unknown"
                ),
                (
                    .POST, path + "/purchase-intents",
                    #"{\#(app),"productID":"com.example.pro","quantity":2}"#, 400,
                    "quantity_out_of_range"
                ),
                (
                    .PUT, client.urls.payments + Routes.adminAccounts + "/a%20b", "{\(app)}", 400,
                    "account_id_malformed"
                ),
            ]
        }
    }
}

/// The account changes that a client's stream has sent so far.
private final class StreamRecord: Sendable {
    private let accounts = Mutex<[Account]>([])
    private let task: Mutex<Task<Void, Never>?>

    init(_ client: StoreClient) {
        task = Mutex(nil)
        let reading = Task { [weak self] in
            // The recorded changes stay valid after the stream is cut off.
            _ = try? await Self.read(client.queue()) { account in
                self?.accounts.withLock { $0.append(account) }
            }
        }
        task.withLock { $0 = reading }
    }

    deinit { task.withLock { $0?.cancel() } }

    private static func read(
        _ stream: QueueStream,
        _ receive: (Account) -> Void
    ) async throws {
        for try await event in stream where event.name == "account" {
            if let change = event.accountChange { receive(change.account) }
        }
    }

    /// Waits until the newest account meets a condition.
    func account(_ what: String, _ isSo: @Sendable (Account) -> Bool) async throws {
        try await eventually("the stream to tell of \(what)") {
            self.accounts.withLock { $0.last.map(isSo) == true ? () : nil }
        }
    }
}

extension AcceptedPayment {
    fileprivate init(_ transaction: Transaction) {
        self.init(transactionID: transaction.id, account: transaction.accountID)
    }
}

extension StoreHarness {
    /// Changes an account as an administrator.
    func change(
        _ account: String,
        canMakePayments: Bool? = nil,
        storefront: Storefront? = nil
    ) async throws {
        _ = try await administrator.change(
            AccountID(unchecked: account),
            AccountChangeRequest(
                bundleID: StoreKeys.bundleID,
                canMakePayments: canMakePayments,
                storefront: storefront
            )
        ).value
    }

    /// Begins a purchase for ada after `payments` knows the product.
    func begin(
        _ product: ProductID = SampleCatalog.coins
    ) async throws -> PurchaseIntent {
        try await administrator.begin(
            PurchaseIntentRequest(bundleID: StoreKeys.bundleID, productID: product),
            for: AccountID(unchecked: "ada")
        ).value.purchaseIntent
    }
}
