import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import TestSupport
import Testing

extension EndToEnd {
    /// A subscription that a family shares, from its purchase until the member leaves.
    @Suite
    struct SharedSubscriptions {
        @Test func aMemberHasWhatTheSubscriptionGivesUntilTheMemberLeaves() async throws {
            let settings = [StoreService.payments: ["SUBSCRIPTION_GRACE_DAYS": "16"]]
            try await withStore(.with(settings: settings)) { store in
                try await store.sellShareableClub()
                _ = try await store.makeFamily("ada", "ben")
                _ = try await store.setClock(Routes.adminClockFreeze)
                let merchant = try await WebhookReceiver.start()
                _ = try await store.administrator.setNotificationEndpoint(to: merchant.url).value
                let bought = try await store.buy(
                    SampleCatalog.club,
                    by: .renewalDeclined,
                    as: "ada"
                )
                let share = try await store.share(of: bought, with: "ben")
                let ben = try store.client(account: "ben")
                try await ben.finishUntilDone(share.transaction.id)
                try await store.finish([bought])

                // Extended: the same share, until later.
                let id = bought.transactionID
                _ = try await store.administrator.extend(id, by: 3, key: "sorry").value
                let end = try await store.boughtClub().period.end
                #expect(share.transaction.subscription?.end != end)
                try await store.expectClub(of: "ben", until: end)

                // In the grace period.
                let start = try await store.readClock().now
                _ = try await store.advanceClock("38d", from: start)
                let grace = try #require(try await store.boughtClub().gracePeriodEnd)
                try await store.expectClub(of: "ben", until: grace)
                try await eventually("the status to be that of the grace period") {
                    try await store.statuses(of: "ben") == [4] ? true : nil
                }

                // Paid in the grace period: the next period follows without a gap.
                try await store.pay(id, as: "ada")
                let renewed = try await eventually("the renewal to be paid") {
                    let subscription = try await store.boughtClub()
                    return subscription.state == .active ? subscription : nil
                }
                #expect(renewed.period.start == end)
                try await store.expectClub(of: "ben", until: renewed.period.end)
                try await eventually("the status to be active again") {
                    try await store.statuses(of: "ben") == [1] ? true : nil
                }
                let next = try await eventually("the next share") {
                    try await ben.unfinished().value.transactions.first {
                        $0.transaction.sharedFrom == renewed.period.transactionID
                    }
                }
                #expect(next.transaction.originalID == share.transaction.id)
                try await ben.finishUntilDone(next.transaction.id)

                // Left.
                _ = try await ben.leaveFamily().value
                try await store.expectClub(of: "ben", until: nil)
                try await merchant.expect([
                    "SUBSCRIBED": 2, "RENEWAL_EXTENDED": 2, "DID_FAIL_TO_RENEW": 2, "DID_RENEW": 2,
                    "REVOKE": 1,
                ])
                await merchant.stop()
                try await store.agreedBooks()
                let proof = try await store.verify()
                #expect(proof.exit == .code(0), "\(proof.output)")
            }
        }
    }
}

extension StoreHarness {
    /// The subscription that ada pays.
    fileprivate func boughtClub() async throws -> Subscription {
        let client = try client(account: "ada")
        return try #require(try await client.subscriptions().value.subscriptions.first)
    }

    /// Waits until an account has the club until a time; `nil` if it is to have it no longer.
    fileprivate func expectClub(of account: String, until end: StoreTime?) async throws {
        let expected = end.map { [$0] } ?? []
        let now = try await readClock().now
        func ends() async throws -> [StoreTime] {
            try await client(account: account).entitlements().value.entitlements
                .filter { $0.productID == SampleCatalog.club && $0.revokedAt == nil }
                .compactMap(\.endsAt).filter { $0 > now }
        }
        do {
            try await eventually("the club of \(account) to end as the buyer's") {
                try await ends() == expected ? true : nil
            }
        } catch {
            Issue.record("it ends \(try await ends()) and not \(expected)")
            throw error
        }
    }

    /// The numbers of the states of an account's subscriptions.
    fileprivate func statuses(of account: String) async throws -> [Int] {
        try await client(account: account)
            .raw(.GET, urls.receipts + Routes.subscriptionStatuses)
            .decode(SubscriptionStatusesResponse.self).statuses.map(\.status)
    }

    /// Gives a subscription a card that works, by which it is charged at once.
    fileprivate func pay(_ id: TransactionID, as account: String) async throws {
        let client = try client(account: account)
        let working = SandboxPaymentMethod.success
        let method = try await stripe?.saved(working, of: client) ?? working.method
        let answer = try await client.raw(
            .PUT,
            urls.payments + Routes.subscriptionMethod(id),
            body: Array(try JSONEncoder().encode(SubscriptionMethodRequest(paymentMethod: method)))
        )
        #expect((200..<300).contains(answer.status), "\(answer.text)")
    }
}

extension WebhookReceiver {
    /// Waits for notifications of some types, and expects no more of them.
    fileprivate func expect(_ types: [String: Int]) async throws {
        func told() -> [String: Int] {
            let claims = deliveries.map { StoreHarness.claims(ofBody: $0.body) }
            var counts: [String: Int] = [:]
            for type in types.keys {
                counts[type] = claims.count { $0.contains("\"notificationType\":\"\(type)\"") }
            }
            return counts
        }
        try await eventually("the merchant to hear of each change") {
            let counts = told()
            return types.allSatisfy { counts[$0.key, default: 0] >= $0.value } ? true : nil
        }
        #expect(told() == types)
    }
}
