import EventTypes
import Foundation
import StoreAPI
import StripeStandIn
import Testing
import TestSupport

extension EndToEnd {
    /// One test for each row in the table of crash points in Messaging's documentation.
    ///
    /// A proxy holds the service's traffic at the crash point, and SIGKILL ends the service there.
    @Suite
    struct CrashPoints {
        @Test(.onlySandbox("It stops a statement of the sandbox's books."))
        func afterIntentBeforeCharge() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let (payment, hold) = try await store.buyHeldBeforeCharge()
                try await store.crash(.payments, at: hold)
                try await store.expectWhole([payment])
            }
        }

        @Test func afterChargeBeforeItsCommit() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
                let payment = try await store.buy()
                try await hold.reached()
                if let stripe = store.stripe {
                    // `reconcile` would wait until `payments` has read Stripe's list.
                    let id = payment.transactionID
                    let charge = stripe.server.payment(ofTransaction: id.rawValue)
                    #expect(charge != nil, "The charge is made.")
                    let known = try await store.client(account: "ada").transaction(id).value
                    #expect(known.transaction.state == .purchasing, "payments does not know it.")
                } else {
                    let books = try await store.reconcile().transactions?.first
                    #expect(books?.charges.count == 1, "The charge is made.")
                    #expect(books?.entry?.state == .purchasing, "payments does not know it.")
                }
                try await store.crash(.payments, at: hold)
                try await store.expectWhole([payment])
            }
        }

        @Test(arguments: [
            (StoreService.payments, Topics.paymentsTransactions),
            (.receipts, Topics.receiptsIssued),
            (.fulfillment, Topics.fulfillmentQueues),
        ])
        func afterCommitBeforePublish(_ service: StoreService, _ topic: Topic) async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                let proxy = try #require(store.kafkaProxy)
                let hold = proxy.hold(
                    at: .beforeRequest(.produce, client: service.rawValue, containing: topic.name)
                )
                let payment = try await store.buy()
                try await store.crash(service, at: hold)
                try await store.expectWhole([payment])
            }
        }

        @Test func afterCommitBeforePublishInTheCatalog() async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                let proxy = try #require(store.kafkaProxy)
                let hold = proxy.hold(
                    at: .beforeRequest(
                        .produce,
                        client: "catalog",
                        containing: Topics.catalogProducts.name
                    )
                )
                try await store.change(SampleCatalog.hint, priceTo: 149)
                try await store.crash(.catalog, at: hold)
                try await store.expectPayments(toAskFor: 149, for: SampleCatalog.hint)
            }
        }

        @Test(arguments: [StoreService.payments, .receipts, .fulfillment])
        func afterPublishBeforePlace(_ service: StoreService) async throws {
            try await withStore(.with(postgresProxies: [service])) { store in
                try await store.importSampleCatalog()
                let watcher = try EventWatcher.start(store)
                let hold = try store.hold(
                    service,
                    .beforeStatement(containing: "UPDATE relay_place")
                )
                let payment = try await store.buy()
                try await store.crash(service, at: hold)
                try await store.expectWhole([payment])
                try await eventually("an event to be published a second time") {
                    let ids = watcher.sightings(of: payment.transactionID)
                        .filter { $0.topic.hasPrefix(service.rawValue) }.map(\.id)
                    return Set(ids).count < ids.count ? true : nil
                }
                await watcher.stop()
            }
        }

        @Test func afterPublishBeforePlaceInTheCatalog() async throws {
            try await withStore(.with(postgresProxies: [.catalog])) { store in
                try await store.importSampleCatalog()
                let hold = try store.hold(
                    .catalog,
                    .beforeStatement(containing: "UPDATE relay_place")
                )
                try await store.change(SampleCatalog.hint, priceTo: 149)
                try await store.crash(.catalog, at: hold)
                try await store.expectPayments(toAskFor: 149, for: SampleCatalog.hint)
            }
        }

        @Test func afterDeliveryBeforeCommit() async throws {
            try await withStore(.with(postgresProxies: [.fulfillment])) { store in
                try await store.importSampleCatalog()
                let hold = try store.hold(
                    .fulfillment,
                    .beforeCommit(ofTransactionWith: "INSERT INTO credit_entries")
                )
                let payment = try await store.buy()
                try await store.crash(.fulfillment, at: hold)
                try await store.expectWhole([payment])
                let credits = try await store.client(account: "ada").credits().value
                #expect(credits.balances == ["coins": 100])
            }
        }

        @Test(arguments: [StoreService.receipts, .fulfillment])
        func afterCommitBeforeOffset(_ service: StoreService) async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                let proxy = try #require(store.kafkaProxy)
                let hold = proxy.hold(
                    at: .beforeRequest(
                        .offsetCommit,
                        client: service.rawValue,
                        containing: Topics.paymentsTransactions.name
                    )
                )
                let payment = try await store.buy()
                try await store.crash(service, at: hold)
                try await store.expectWhole([payment])
            }
        }

        @Test func afterCommitBeforeOffsetInPayments() async throws {
            try await withStore(.with(kafkaProxy: true)) { store in
                try await store.importSampleCatalog()
                let proxy = try #require(store.kafkaProxy)
                let hold = proxy.hold(
                    at: .beforeRequest(
                        .offsetCommit,
                        client: "payments",
                        containing: Topics.fulfillmentTransactions.name
                    )
                )
                let payment = try await store.buy()
                try await store.finish([payment])
                try await store.crash(.payments, at: hold)
                try await store.expectWhole([payment])
            }
        }

        @Test func betweenWebhookSentAndRecorded() async throws {
            try await withStore(.with(postgresProxies: [.fulfillment])) { store in
                let merchant = try await WebhookReceiver.start()
                try await store.sellGift(deliveredTo: merchant.url)
                let hold = try store.hold(
                    .fulfillment,
                    .beforeStatement(containing: "delivered_at = confirmed.time")
                )
                let payment = try await store.buy(SampleCatalog.gift)
                try await hold.reached()
                #expect(merchant.deliveries.count == 1)
                try await store.crash(.fulfillment, at: hold)
                try await store.expectWhole([payment])
                let ids = merchant.deliveries.map(\.id)
                #expect(ids.count == 2, "It was sent again, because nobody noted that it was sent.")
                #expect(Set(ids).count == 1, "The merchant can tell that it is the same.")
                await merchant.stop()
            }
        }

        @Test func finishLostOnTheWire() async throws {
            try await withStore(.with(postgresProxies: [.fulfillment])) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy()
                let client = try store.client(account: "ada")
                try await eventually("the purchase to be delivered") {
                    try await client.unfinished().value.transactions.first?.isDelivered == true
                        ? true : nil
                }
                let hold = try store.hold(
                    .fulfillment,
                    .afterCommit(ofTransactionWith: "SET finished_at")
                )
                let lost = Task { try await client.finish(payment.transactionID) }
                try await hold.reached()
                let story = try await store.json("why", "\(payment.transactionID)", "--json")
                let steps = try #require(story["steps"] as? [[String: Any]])
                let finish = try #require(steps.first { $0["kind"] as? String == "finish" })
                try await store.crash(.fulfillment, at: hold)
                await #expect(throws: (any Error).self) { _ = try await lost.value.value }
                let second = try await client.finish(payment.transactionID).value
                #expect(second.finishedAt.millisecondsSinceEpoch == finish["time"] as? Int64)
                try await store.expectWhole([payment])
            }
        }

        @Test(arguments: [StoreService.receipts, .fulfillment])
        func inTheMiddleOfABatch(_ service: StoreService) async throws {
            try await withStore(.with(postgresProxies: [service])) { store in
                try await store.importSampleCatalog()
                // Purchases accumulate while the service is down, and then arrive as one batch.
                await store.process(service).kill()
                var payments: [AcceptedPayment] = []
                for number in 0..<30 {
                    payments.append(try await store.buy(as: "buyer-\(number % 7)"))
                }
                let point: PostgresProxy.Point =
                    service == .receipts
                    ? .afterStatement(containing: "INTO signed_transactions")
                    : .beforeStatement(containing: "INTO outbox")
                let hold = try store.hold(service, point)
                try await store.process(service).start()
                try await store.crash(service, at: hold)
                try await store.expectWhole(payments)
            }
        }

        @Test func inTheMiddleOfABatchInPayments() async throws {
            try await withStore(.with(postgresProxies: [.payments])) { store in
                try await store.importSampleCatalog()
                var payments: [AcceptedPayment] = []
                for number in 0..<30 {
                    payments.append(try await store.buy(as: "buyer-\(number % 7)"))
                }
                for payment in payments {
                    let client = try store.client(account: payment.account.rawValue)
                    try await client.wait(for: payment.transactionID, toBe: .purchased)
                }
                // Finishes accumulate while `payments` is down, and then arrive as one batch.
                await store.process(.payments).kill()
                try await store.finish(payments)
                let hold = try store.hold(
                    .payments,
                    .beforeStatement(containing: "UPDATE consumer_places")
                )
                try await store.process(.payments).start()
                try await store.crash(.payments, at: hold)
                try await store.expectWhole(payments)
            }
        }

        @Test func duringRebalance() async throws {
            var options = StoreOptions.with(
                kafkaProxy: true,
                replicas: [.receipts: 2, .fulfillment: 2]
            )
            options.startsReplicas = false
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let proxy = try #require(store.kafkaProxy)
                var payments = [try await store.buy(as: "before")]
                for service in [StoreService.receipts, .fulfillment] {
                    let hold = proxy.hold(
                        at: .beforeRequest(
                            .syncGroup,
                            client: service.rawValue,
                            containing: service.rawValue
                        )
                    )
                    try await store.process(service, 2).start()
                    payments.append(try await store.buy(as: "during-\(service)"))
                    try await hold.reached()
                    await store.process(service, 1).kill()
                    // The living instance may continue. The messages of the dead one are dropped.
                    hold.release()
                }
                payments.append(try await store.buy(as: "after"))
                try await store.expectWhole(payments, instance: 2)
            }
        }

        @Test(arguments: StoreService.allCases)
        func duringMigration(_ service: StoreService) async throws {
            var options = StoreOptions()
            options.startsServices = false
            options.migrates = false
            try await withStore(options) { store in
                let proxy = try await PostgresProxy.start(inFrontOf: store.cluster.port)
                let hold = proxy.hold(
                    at: .beforeCommit(ofTransactionWith: "INSERT INTO schema_migrations")
                )
                let process = store.process(service)
                let migrating = try await process.startCommand(
                    "migrate",
                    settings: [
                        "MIGRATION_DATABASE_URL": store.databaseURL(service, through: proxy)
                    ]
                )
                try await hold.reached()
                migrating.send(SIGKILL)
                _ = await migrating.exit()
                try await hold.dropped()
                hold.release()
                await proxy.cut()
                // The interrupted migration left nothing behind. The next run performs all of it.
                try await process.run("migrate")
                try await store.migrate()
                try await store.heal()
                try await store.importSampleCatalog()
                try await store.expectWhole([try await store.buy()])
            }
        }
    }
}

extension StoreOptions {
    /// Returns options with the settings of one test.
    static func with(
        postgresProxies: Set<StoreService> = [],
        kafkaProxy: Bool = false,
        replicas: [StoreService: Int] = [:],
        database: Database = .shared,
        startsServices: Bool = true,
        settings: [StoreService: [String: String]] = [:]
    ) -> StoreOptions {
        var options = StoreOptions()
        options.postgresProxies = postgresProxies
        options.kafkaProxy = kafkaProxy
        options.replicas = replicas
        options.database = database
        options.startsServices = startsServices
        options.settings = settings
        return options
    }
}

extension StoreHarness {
    /// Holds a service's traffic to PostgreSQL.
    func hold(
        _ service: StoreService,
        _ point: PostgresProxy.Point,
        occurrence: Int = 1
    ) throws -> Hold {
        try #require(postgresProxies[service]).hold(at: point, occurrence: occurrence)
    }

    /// Adds a product that is delivered by a webhook.
    func sellGift(deliveredTo url: String) async throws {
        let response = try await administrator.put(
            SampleCatalog.gift(deliveredTo: url),
            as: SampleCatalog.gift
        )
        #expect((200..<300).contains(response.status), "\(response.text)")
        try await waitUntilSellable(SampleCatalog.gift)
    }

    /// Changes the price of a sample product in the United States.
    func change(_ product: ProductID, priceTo cents: Int64) async throws {
        var draft = try #require(try SampleCatalog.document().products[product])
        draft.prices[SampleCatalog.usa] = SampleCatalog.usd(cents)
        let response = try await administrator.put(draft, as: product)
        #expect((200..<300).contains(response.status), "\(response.text)")
    }

    /// Waits until `payments` refuses any price other than this one.
    func expectPayments(toAskFor cents: Int64, for product: ProductID) async throws {
        var request = PaymentRequest.sample(product)
        request.price = SampleCatalog.usd(1)
        let client = try client(account: "probe")
        let asked = request
        let current = try await eventually("payments to know the price") {
            let price = try await client.add(asked).problem?.currentPrice
            return price == SampleCatalog.usd(cents) ? price : nil
        }
        #expect(current == SampleCatalog.usd(cents))
    }
}
