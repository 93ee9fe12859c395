import AsyncHTTPClient
import Callbacks
import Crypto
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import NIOCore
import Postgres
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Fulfillment

private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

@Suite(.timeLimit(.minutes(10)))
struct WebhookSenderTests {
    @Test func a2xxAnswerCompletesTheDelivery() async throws {
        try await withMerchant { merchant, store in
            let purchase = Transaction.sample(
                1,
                plan: [.entitlement, merchant.target, merchant.target]
            )
            try await store.arrive(purchase)
            #expect(try await store.published().last?.change.isDelivered == false)
            #expect(try await store.finish(1) == .refused(.notDelivered))
            try await store.send { _ in
                try await store.untilDelivered()
            }
            #expect(try await store.published().map(\.change.revision) == [1, 2])
            #expect(Set(merchant.received.map(\.id)) == ["delivery_1_1", "delivery_1_2"])
            let request = try #require(merchant.received.first)
            let signed = Array("\(request.id).\(request.timestamp).".utf8) + request.body
            let key = SymmetricKey(data: Data(base64Encoded: String(secret.dropFirst(6))) ?? Data())
            let code = Data(HMAC<SHA256>.authenticationCode(for: signed, using: key))
            #expect(request.signature == "v1,\(code.base64EncodedString())")
            let body = try JSONDecoder().decode(WebhookBody.self, from: Data(request.body))
            #expect(
                body
                    == WebhookBody(
                        type: "transaction.purchased.v1",
                        transaction: purchase,
                        target: merchant.target
                    )
            )
            #expect(try await store.finish(1) == .finished(at: startOfTime))
        }
    }

    @Test func aFailedWebhookIsSentAgainLaterAndLaterUnderTheSameID() async throws {
        try await withMerchant { merchant, store in
            merchant.answer { $0 < 2 ? .internalServerError : .noContent }
            try await store.arrive(.sample(1, plan: [merchant.target]))
            try await store.send { sender in
                for count in 1...2 {
                    try await eventually("try \(count) is recorded") {
                        let row = try await store.delivery(of: 1)
                        return row.attempts == count
                            && row.result == "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
                            && row.next ?? startOfTime < store.clock.now().advanced(by: .seconds(9))
                            ? true : nil
                    }
                    #expect(try await store.published().count == 1)
                    store.clock.advance(by: .seconds(10))
                    sender.wake()
                }
                try await store.untilDelivered()
            }
            #expect(
                merchant.received.map(\.id) == ["delivery_1_0", "delivery_1_0", "delivery_1_0"]
            )
            #expect(Set(merchant.received.map(\.body)).count == 1)
            #expect(try await store.delivery(of: 1).result == "SUCCESS")
        }
    }

    @Test func whatWasConfirmedIsSentAgainOnRequestUnderTheSameID() async throws {
        try await withMerchant { merchant, store in
            try await store.arrive(.sample(1, plan: [merchant.target]))
            try await store.send { _ in try await store.untilDelivered() }
            let before = try await store.published().count
            #expect(try await store.webhooks.sendAgain(TransactionID(number: 2)) == nil)
            // The first of two further tries fails.
            merchant.answer { $0 == 1 ? .internalServerError : .noContent }
            #expect(try await store.webhooks.sendAgain(TransactionID(number: 1)) == 1)
            try await store.send { sender in
                try await eventually("the failure is recorded") {
                    let row = try await store.delivery(of: 1)
                    return row.attempts == 2
                        && row.next ?? startOfTime < store.clock.now().advanced(by: .seconds(9))
                        ? true : nil
                }
                #expect(try await store.delivery(of: 1).result == "SUCCESS")
                store.clock.advance(by: .seconds(10))
                sender.wake()
                try await eventually("it is confirmed again") {
                    try await store.delivery(of: 1).next == nil ? true : nil
                }
            }
            #expect(merchant.received.map(\.id) == Array(repeating: "delivery_1_0", count: 3))
            #expect(try await store.published().count == before)
            #expect(try await store.finish(1) == .finished(at: store.clock.now()))
        }
    }

    @Test func aRecipientThatDoesNotAnswerInTimeHasTimedOut() async throws {
        try await withMerchant { merchant, store in
            merchant.answer { _ in nil }
            let result = try await store.send(to: merchant.url, timeout: .milliseconds(200))
            #expect(result == .timedOut)
        }
    }

    @Test func aRedirectIsNotFollowed() async throws {
        try await withMerchant { merchant, store in
            merchant.answer { _ in .temporaryRedirect }
            let result = try await store.send(to: merchant.url)
            #expect(result == .unsuccessfulStatus)
            #expect(merchant.received.count == 1)
        }
    }

    @Test func anAddressThatNobodyListensAtOrThatIsNoneHasItsOwnResult() async throws {
        try await withFulfillment { store in
            let port = try freePort()
            #expect(try await store.send(to: "http://127.0.0.1:\(port)/") == .socketIssue)
            #expect(try await store.send(to: "ftp://merchant.example/") == .other)
            #expect(try await store.send(to: "nonsense") == .other)
        }
    }

    @Test func aTLSFailureHasItsOwnResult() async throws {
        try await withMerchant { merchant, store in
            let url = merchant.url.replacing("http://", with: "https://")
            let result = try await store.send(to: url)
            #expect(result == .tlsIssue)
        }
    }

    @Test func whatWasSentBeforeAKillIsSentAgainUnderTheSameID() async throws {
        try await withMerchant { merchant, store in
            try await store.arrive(.sample(1, plan: [merchant.target]))
            let taken = try await store.webhooks.take(limit: 10, excluding: [])
            let outgoing = try store.outgoing()
            for webhook in taken { #expect(try await outgoing.send(webhook) == .success) }
            try await outgoing.shutDown()
            // No outcome is recorded. Until the lease ends no sender takes the webhook, afterwards
            // any may.
            #expect(try await store.webhooks.take(limit: 10, excluding: []).isEmpty)
            store.clock.advance(by: .seconds(31))
            try await store.send { _ in
                try await store.untilDelivered()
            }
            #expect(merchant.received.map(\.id) == ["delivery_1_0", "delivery_1_0"])
            #expect(try await store.published().map(\.change.revision) == [1, 2])
        }
    }

    @Test func anOutcomeThatComesLateDoesNotUndoAnothersOutcome() async throws {
        try await withMerchant { merchant, store in
            try await store.arrive(.sample(1, plan: [merchant.target]))
            let first = try await store.webhooks.take(limit: 1, excluding: [])
            store.clock.advance(by: .seconds(31))
            let second = try await store.webhooks.take(limit: 1, excluding: [])
            #expect(first.map(\.attempt) == [1] && second.map(\.attempt) == [2])
            func outcome(_ webhook: Webhook, _ result: CallbackResult) -> WebhookOutcome {
                WebhookOutcome(
                    webhook: webhook,
                    result: result,
                    time: store.clock.now(),
                    nextAttemptAt: store.clock.machineNow()
                )
            }
            try await store.webhooks.record([outcome(first[0], .timedOut)])
            #expect(try await store.webhooks.take(limit: 1, excluding: []).isEmpty)
            // A confirmation counts from any try, and only once.
            try await store.webhooks.record([outcome(first[0], .success)])
            try await store.webhooks.record([outcome(second[0], .success)])
            #expect(try await store.published().map(\.change.revision) == [1, 2])
        }
    }

    @Test func aRefundWhileAWebhookIsUnderWayLeavesItVoid() async throws {
        try await withMerchant { merchant, store in
            let purchase = Transaction.sample(1, plan: [merchant.target])
            try await store.arrive(purchase)
            let webhook = try #require(
                try await store.webhooks.take(limit: 1, excluding: []).first
            )
            try await store.arrive(purchase.refunded())
            try await store.webhooks.record([
                WebhookOutcome(
                    webhook: webhook,
                    result: .success,
                    time: startOfTime,
                    nextAttemptAt: startOfTime.onMachines
                )
            ])
            #expect(
                try await store.deliveries(of: 1) == ["0:refund:1 pending", "0:webhook void"]
            )
            #expect(try await store.published().map(\.change.revision) == [1, 2])
            #expect(try await store.published().last?.change.isDelivered == true)
        }
    }

    @Test func anAnswerThatNeverEndsCountsWhenItsTimeIsUp() async throws {
        try await withMerchant { merchant, store in
            merchant.answer { _ in .accepted }
            try await store.arrive(.sample(1, plan: [merchant.target]))
            let webhook = try #require(
                try await store.webhooks.take(limit: 1, excluding: []).first
            )
            let outgoing = try store.outgoing(timeout: .seconds(10))
            #expect(try await outgoing.send(webhook) == .success)
            try await outgoing.shutDown()
        }
    }

    @Test func aRecipientThatHangsDoesNotHoldUpTheOthers() async throws {
        try await withMerchant { hanging, store in
            hanging.answer { _ in nil }
            let target = hanging.target
            try await Merchant.run { other in
                try await store.arrive(
                    (1...20).map { .sample($0, plan: [target]) } + [
                        .sample(21, plan: [other.target])
                    ]
                )
                try await store.send { _ in
                    try await store.untilDelivered()
                    #expect(hanging.received.count <= 2)
                }
            }
        }
    }
}

private struct WebhookBody: Decodable, Equatable {
    var type: String
    var transaction: Transaction
    var target: DeliveryTarget
}

extension FulfillmentDatabase {
    fileprivate func outgoing(timeout: Duration = .seconds(60)) throws -> OutgoingWebhooks {
        OutgoingWebhooks(
            handler: webhooks,
            transport: CallbackTransport(timeout: timeout),
            signer: try WebhookSigner(secret: secret),
            recorder: RequestBatcher(name: "outcomes", logger: quiet) { outcomes in
                try await webhooks.record(outcomes)
                return outcomes.map { _ in }
            },
            retries: RetryPolicy(base: .seconds(1), ceiling: .seconds(5)),
            logger: quiet
        )
    }

    /// Runs a sender while a test runs.
    fileprivate func send(
        _ body: (CallbackSender<OutgoingWebhooks>) async throws -> Void
    ) async throws {
        let sender = CallbackSender(
            calls: try outgoing(),
            limits: CallbackLimits(concurrency: 8, pollInterval: .milliseconds(200)),
            logger: quiet
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sender.run() }
            defer { group.cancelAll() }
            try await body(sender)
        }
    }

    /// Waits until the last published event says that the purchase is delivered.
    fileprivate func untilDelivered() async throws {
        try await eventually("the purchase is delivered") {
            let isDelivered = try await published().last?.change.isDelivered ?? false
            return isDelivered ? true : nil
        }
    }

    /// Makes one try.
    fileprivate func send(
        to url: String,
        timeout: Duration = .seconds(60)
    ) async throws -> CallbackResult {
        let outgoing = try outgoing(timeout: timeout)
        let webhook = Webhook(
            transactionID: TransactionID(number: 1),
            target: "0:webhook",
            attempt: 1,
            url: url,
            host: "",
            queue: .sample(),
            state: .purchased,
            snapshot: TransactionSnapshot(bytes: Array("{}".utf8))
        )
        let result = try await outgoing.send(webhook)
        try await outgoing.shutDown()
        return result
    }

    fileprivate func delivery(
        of number: Int64
    ) async throws -> (attempts: Int32, result: String?, next: StoreTime?) {
        try await client.withConnection { connection in
            let rows = try connection.query(
                """
                SELECT attempts, last_result, next_attempt_at FROM deliveries
                WHERE transaction_id = \(number)
                """
            )
            return try rows[0].decode(Int32.self, String?.self, StoreTime?.self)
        }
    }
}
