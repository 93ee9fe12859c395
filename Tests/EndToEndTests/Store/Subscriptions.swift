import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import Testing
import TestSupport

extension EndToEnd {
    /// Subscriptions that are bought, renewed by the store, and charged again after a failure.
    @Suite
    struct Subscriptions {
        @Test func theStoreRenewsASubscription() async throws {
            try await withStore { store in
                let first = try await store.subscribe()
                let answer = try await store.counterfoil("clock", "advance", "31d")
                #expect(answer.exit == .code(0), "\(answer.output)")
                #expect(answer.output.contains("Done: 1 renewal."), "\(answer.output)")
                let renewal = try await store.expectOneRenewal(of: first)
                let bought = try await store.client(account: "ada")
                    .wait(for: first.transactionID, toBe: .purchased)
                #expect(renewal.reason == .renewal && renewal.originalID == bought.id)
                #expect(renewal.subscription?.start == bought.subscription?.end)
                #expect(renewal.originalPurchasedAt == bought.purchasedAt)
                let receipt = try await store.client(account: "ada").receipt(renewal.id).value
                let root = try Data(
                    contentsOf: URL(fileURLWithPath: store.keys.rootCertificate)
                )
                let signed = try SignedTransactionCheck(
                    receipt.signedTransaction,
                    rootCertificate: Array(root)
                ).payload
                let period = try #require(renewal.subscription)
                let (start, end) = (try #require(period.start), try #require(period.end))
                #expect(signed.contains(#""expiresDate":\#(end.millisecondsSinceEpoch),"#))
                #expect(signed.contains(#""purchaseDate":\#(start.millisecondsSinceEpoch),"#))
                #expect(signed.contains(#""transactionReason":"RENEWAL""#))
                let owned = try await store.client(account: "ada").entitlements().value
                #expect(owned.entitlements.map(\.endsAt) == [renewal.subscription?.end])
                let statuses = try await StoreHTTP.send(
                    .GET,
                    store.urls.receipts + "/inApps/v1/subscriptions/\(first.transactionID)",
                    headers: [("authorization", "Bearer \(try store.keys.serverToken())")]
                )
                let text = String(decoding: statuses.body, as: UTF8.self)
                #expect(statuses.status == 200 && text.contains(#""status":1"#), "\(text)")
                #expect(text.contains("signedRenewalInfo"), "\(text)")
                let story = try await store.counterfoil("why", first.transactionID.rawValue)
                #expect(story.exit == .code(0), "\(story.output)")
                let renewed = "renewed by transaction \(renewal.id) with com.example.club.monthly"
                #expect(story.output.contains(renewed), "\(story.output)")
                #expect(story.output.contains("and renews then with"), "\(story.output)")
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
                // That the renewal is begun is in the log, and nobody is told.
                let metrics = try await StoreHTTP.send(.GET, store.urls.payments + "/metrics")
                let counted = String(decoding: metrics.body, as: UTF8.self)
                let begun = #"outbox_events_published_total{type="transaction.purchasing.v1"} 1"#
                #expect(counted.contains(begun + "\n"), "\(counted)")
                // The clock was set, so its time does not say that all of this has just happened.
                let audit = try await store.counterfoil("reconcile")
                #expect(audit.exit == .code(0), "\(audit.output)")
                #expect(!audit.output.contains("There is nothing to compare"), "\(audit.output)")
            }
        }

        @Test func aDeclinedRenewalIsChargedAgainAndRecovers() async throws {
            try await withStore { store in
                let first = try await store.subscribe(by: .renewalRecovers)
                let answer = try await store.counterfoil("clock", "advance", "34d")
                #expect(answer.exit == .code(0), "\(answer.output)")
                let done = "Done: 1 ended period, 1 renewal, 4 repeated charges."
                #expect(answer.output.contains(done), "\(answer.output)")
                let renewal = try await store.expectOneRenewal(of: first)
                let bought = try await store.client(account: "ada")
                    .wait(for: first.transactionID, toBe: .purchased)
                // It was paid a day after the end, so the new period begins then.
                #expect(
                    renewal.subscription?.start
                        == bought.subscription?.end?.advanced(by: .seconds(86_400))
                )
            }
        }

        @Test func aCancelledSubscriptionLapses() async throws {
            try await withStore { store in
                let id = try await store.subscribe().transactionID
                let client = try store.client(account: "ada")
                let answer = try await client.raw(
                    .PUT,
                    store.urls.payments + Routes.autoRenew(id),
                    body: Array(#"{"isOn":false}"#.utf8)
                )
                let cancelled = try answer.decode(SubscriptionResponse.self).subscription
                #expect(!cancelled.isAutoRenewOn && cancelled.state == .active)
                let advance = try await store.counterfoil("clock", "advance", "31d")
                #expect(advance.output.contains("Done: 1 ended period."), "\(advance.output)")
                for arguments in [["show", id.rawValue], ["list", "--state", "expired"]] {
                    let answer = try await store.counterfoil(["subscriptions"] + arguments)
                    #expect(answer.exit == .code(0), "\(answer.output)")
                    #expect(answer.output.contains(id.rawValue), "\(answer.output)")
                    #expect(answer.output.contains("expired"), "\(answer.output)")
                }
                let resumed = try await store.counterfoil("subscriptions", "resume", id.rawValue)
                #expect(resumed.exit == .code(1), "\(resumed.output)")
                let listed = try await client.raw(.GET, store.urls.payments + Routes.subscriptions)
                let own = try listed.decode(SubscriptionsResponse.self).subscriptions
                #expect(own.map(\.id) == [id] && own.map(\.state) == [.expired])
                let now = try await store.readClock().now
                let owned = try await client.entitlements().value.entitlements
                #expect(owned.count == 1 && owned.allSatisfy { ($0.endsAt ?? now) <= now })
            }
        }

        @Test func twoInstancesChargeEachPeriodOnce() async throws {
            try await withStore(.with(replicas: [.payments: 2])) { store in
                try await store.addSubscription()
                _ = try await store.setClock(Routes.adminClockFreeze)
                let methods: [SandboxPaymentMethod] = [.success, .renewalRecovers]
                for number in 0..<12 {
                    let payment = try await store.buy(
                        SampleCatalog.club,
                        by: methods[number % 2],
                        as: "ada\(number)"
                    )
                    try await store.client(account: "ada\(number)")
                        .wait(for: payment.transactionID, toBe: .purchased)
                }
                let start = try await store.readClock().now
                _ = try await store.advanceClock("100d", from: start)
                let audit = try await store.reconcile(within: .seconds(60))
                let wrong = audit.differences.filter {
                    !["undelivered", "finishDiffers"].contains($0.kind)
                }
                #expect(wrong.isEmpty && audit.subscriptions == 12, "\(wrong)")
                let books = try #require(audit.transactions)
                let paid = books.filter { $0.entry?.reason == .renewal && $0.isPaid }
                #expect(paid.count == 12 * 3 && paid.allSatisfy { $0.charges.count == 1 })
            }
        }
    }
}

extension StoreHarness {
    /// Sells a subscription of a month to `ada`, with a frozen clock.
    func subscribe(
        by method: SandboxPaymentMethod = .success
    ) async throws -> AcceptedPayment {
        try await addSubscription()
        _ = try await setClock(Routes.adminClockFreeze)
        let payment = try await buy(SampleCatalog.club, by: method)
        try await client(account: "ada").wait(for: payment.transactionID, toBe: .purchased)
        return payment
    }

    /// Expects two periods in the account's queue, each charged, posted, signed and delivered once.
    @discardableResult
    func expectOneRenewal(of first: AcceptedPayment) async throws -> Transaction {
        try #require(try await expectRenewals(1, of: first).last)
    }

    /// Expects so many periods more in the account's queue, each charged, posted, signed and
    /// delivered once.
    ///
    /// - Returns: The transactions of all periods, in their order.
    @discardableResult
    func expectRenewals(
        _ count: Int,
        of first: AcceptedPayment
    ) async throws -> [Transaction] {
        let client = try client(account: "ada")
        let queued = try await eventually("\(count) renewals to be delivered") {
            let queued = try await client.unfinished().value.transactions
            return queued.count == count + 1 && queued.allSatisfy(\.isDelivered) ? queued : nil
        }
        let transactions = queued.map(\.transaction).sorted { $0.id < $1.id }
        for transaction in transactions { try await client.finishUntilDone(transaction.id) }
        let books = try await agreedBooks()
        let paid = books.filter { $0.entry?.state == .purchased }
        #expect(paid.map(\.id) == transactions.map(\.id))
        for book in paid {
            #expect(book.charges.count == 1 && book.receipts.count == 1, "\(book.id)")
            #expect(book.postings.map(\.kind) == ["purchase"], "\(book.id)")
        }
        #expect(transactions.first?.id == first.transactionID)
        return transactions
    }
}
