import EventTypes
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// Charges that their buyers have to confirm, as with 3-D Secure.
    @Suite
    struct BuyerActions {
        /// Long enough for a restart on a busy machine.
        private static let settings = [StoreService.payments: ["ACTION_EXPIRY_MS": "120000"]]

        @Test func aBuyerConfirmsAndGetsTheGoods() async throws {
            try await withStore(.with(settings: Self.settings)) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(by: .needsAction)
                let page = try await store.page(of: payment)
                let other = try store.client(account: "bob")
                #expect(try await other.action(of: payment.transactionID).status == 404)
                try await store.confirm(page)
                try await store.expectWhole([payment])
                let client = try store.client(account: "ada")
                let answer = try await client.action(of: payment.transactionID)
                #expect(answer.problem?.code == "no_action_needed")
                #expect(!store.process(.payments).log().contains(page.url))
            }
        }

        /// An app needs no other request to know it, and the address is for whoever asks.
        @Test func theQueueAndItsStreamSayThatTheBuyerIsAwaited() async throws {
            try await withStore(.with(settings: Self.settings)) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(by: .needsAction)
                let client = try store.client(account: "ada")
                let waiting = try await Self.event(of: payment, on: client.queue()) {
                    $0.awaitsBuyer == true
                }
                #expect(waiting.change?.transaction.state == .purchasing)
                let queue = try await client.unfinished().value.transactions
                #expect(queue.map(\.transaction.awaitsBuyer) == [true])
                let page = try await store.page(of: payment)
                #expect(!waiting.data.contains(page.url))
                try await store.confirm(page)
                // Whoever asks again has the store look at what the buyer did.
                _ = try await client.action(of: payment.transactionID)
                let paid = try await Self.event(of: payment, on: client.queue(after: waiting.id)) {
                    $0.state == .purchased
                }
                #expect(paid.change?.transaction.awaitsBuyer == nil)
                try await store.expectWhole([payment])
            }
        }

        /// The wait is in the log, and nobody has heard of it.
        @Test func afterAWaitIsCommittedBeforeItIsPublished() async throws {
            let options = StoreOptions.with(kafkaProxy: true, settings: Self.settings)
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let proxy = try #require(store.kafkaProxy)
                let hold = proxy.hold(
                    at: .beforeRequest(
                        .produce,
                        client: "payments",
                        containing: Topics.paymentsTransactions.name
                    )
                )
                let payment = try await store.buy(by: .needsAction)
                try await store.crash(.payments, at: hold)
                try await store.expectAwaited(payment)
                try await store.confirm(try await store.page(of: payment))
                try await store.expectWhole([payment])
            }
        }

        @Test func afterAWaitArrivedBeforeItIsInTheQueue() async throws {
            let options = StoreOptions.with(
                postgresProxies: [.fulfillment],
                settings: Self.settings
            )
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let hold = try store.hold(
                    .fulfillment,
                    .beforeCommit(ofTransactionWith: "INSERT INTO queue_transactions")
                )
                let payment = try await store.buy(by: .needsAction)
                try await store.crash(.fulfillment, at: hold)
                try await store.expectAwaited(payment)
                try await store.confirm(try await store.page(of: payment))
                try await store.expectWhole([payment])
            }
        }

        /// Reads a stream up to an event of a payment.
        private static func event(
            of payment: AcceptedPayment,
            on stream: QueueStream,
            where isWanted: (Transaction) -> Bool
        ) async throws -> QueueStream.Element {
            for try await event in stream {
                guard let transaction = event.change?.transaction,
                    transaction.id == payment.transactionID, isWanted(transaction)
                else { continue }
                return event
            }
            throw HarnessError("The stream ended before \(payment.transactionID) was as expected.")
        }

        @Test func afterAnActionIsAskedForBeforeItsCommit() async throws {
            try await confirm(after: .beforeCommit(ofTransactionWith: "step = coalesce(u.step"))
        }

        @Test(.onlySandbox("It stops a statement of the sandbox's books."))
        func beforeTheProcessorAsksForAnAction() async throws {
            try await confirm(
                after: .beforeStatement(containing: "INSERT INTO sandbox_processor.open_charges")
            )
        }

        @Test func afterAnActionIsDoneBeforeTheCommit() async throws {
            let options = StoreOptions.with(postgresProxies: [.payments], settings: Self.settings)
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let payment = try await store.buy(by: .needsAction)
                let page = try await store.page(of: payment)
                let hold = try store.hold(
                    .payments,
                    .beforeCommit(ofTransactionWith: "INTO ledger_postings")
                )
                try await store.confirm(page)
                try await store.crash(.payments, at: hold)
                try await store.expectWhole([payment])
            }
        }

        /// Kills `payments` at a point, and expects that the buyer can confirm afterwards, and pays
        /// once.
        private func confirm(after point: PostgresProxy.Point) async throws {
            let options = StoreOptions.with(postgresProxies: [.payments], settings: Self.settings)
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let hold = try store.hold(.payments, point)
                let payment = try await store.buy(by: .needsAction)
                try await store.crash(.payments, at: hold)
                try await store.confirm(try await store.page(of: payment))
                try await store.expectWhole([payment])
            }
        }
    }
}

extension StoreHarness {
    /// Waits for the page on which the buyer of a payment has to act.
    fileprivate func page(of payment: AcceptedPayment) async throws -> BuyerActionResponse {
        let client = try client(account: "ada")
        return try await eventually("a page") {
            try await client.action(of: payment.transactionID).valueIfAny
        }
    }

    /// Waits until the queue says that the buyer of a payment is awaited.
    fileprivate func expectAwaited(_ payment: AcceptedPayment) async throws {
        let client = try client(account: "ada")
        try await eventually("the buyer to be awaited") {
            let queue = try await client.unfinished().value.transactions
            let transaction = queue.map(\.transaction).first { $0.id == payment.transactionID }
            return transaction?.awaitsBuyer
        }
    }

    /// Confirms a charge.
    fileprivate func confirm(_ page: BuyerActionResponse) async throws {
        let answer = try await client(account: "ada").decide(.complete, on: page)
        // Stripe's page sends the buyer back to the app.
        #expect(answer.status == (stripe == nil ? 204 : 303), "\(answer.text)")
    }
}
