import ClockAndIDs
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import StripeStandIn
import Synchronization
import TestSupport
import Testing

@testable import Stripe

@Suite(.timeLimit(.minutes(10)))
struct StandInWebhookTests {
    private static let secrets = ["whsec_the_new_one", "whsec_the_old_one"]

    /// A webhook as it arrived.
    private struct Received: Sendable {
        let body: [UInt8]
        let signature: String?

        var event: StripeEvent {
            get throws { try JSONDecoder().decode(StripeEvent.self, from: Data(body)) }
        }
    }

    /// Runs a stand-in whose webhooks come to a server of the test.
    private static func run(
        refusing refusals: Int = 0,
        _ set: @escaping @Sendable (inout StandInOptions.Webhooks) -> Void = { _ in },
        _ body:
            @escaping @Sendable (StandInUnderTest, @escaping @Sendable () -> [Received])
            async throws -> Void
    ) async throws {
        let received = Mutex<[Received]>([])
        let router = Router()
        router.post("/hook") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            let header = HTTPField.Name("stripe-signature").flatMap { request.headers[$0] }
            let one = Received(body: Array(body.readableBytesView), signature: header)
            let count = received.withLock {
                $0.append(one)
                return $0.count
            }
            return count <= refusals ? HTTPResponse.Status.internalServerError : .ok
        }
        try await HookServer.run(router) { url in
            var webhooks = StandInOptions.Webhooks(urls: ["\(url)/hook"], secrets: secrets)
            webhooks.retryPause = .milliseconds(5)
            set(&webhooks)
            var options = StandInOptions()
            options.webhooks = webhooks
            try await StandInUnderTest.run(options) { test in
                try await body(test) { received.withLock { $0 } }
            }
        }
    }

    @Test func everyWebhookIsGenuineUnderEachSecret() async throws {
        try await Self.run { test, received in
            let customer = try await test.customer()
            let paid = try await test.charge("a1", of: customer)
            let all = try await eventually("the webhooks") {
                received().count >= 4 ? received() : nil
            }
            for secret in Self.secrets {
                let check = StripeSignatureCheck(secrets: [StripeSecret(secret)])
                for one in all {
                    let verdict = check.check(one.body, header: one.signature, now: .now())
                    #expect(verdict == .genuine)
                }
            }
            let events = try all.map { try $0.event }
            #expect(
                events.map(\.type) == [
                    "customer.created", "payment_intent.created", "charge.succeeded",
                    "payment_intent.succeeded",
                ]
            )
            #expect(events.last?.data.object.id == paid.id)
            #expect(events[2].data.object.paymentIntent?.id == paid.id)
            let listed = try await test.client.events(StripeListRequest()).data
            #expect(listed.reversed() == events)
        }
    }

    @Test func anEventOfTheWholeAccountNamesNoObject() async throws {
        try await Self.run { test, received in
            _ = try await test.customer()
            test.server.tellBalance()
            let all = try await eventually("the webhooks") {
                received().count == 2 ? received() : nil
            }
            let events = try all.map { try $0.event }
            #expect(events.map(\.type) == ["customer.created", "balance.available"])
            #expect(events.map { $0.data.object.id == nil } == [false, true])
            let listed = try await test.client.events(StripeListRequest()).data
            #expect(listed.reversed() == events)
        }
    }

    @Test func aWebhookThatIsNotTakenComesAgain() async throws {
        try await Self.run(refusing: 3) { test, received in
            _ = try await test.customer()
            let all = try await eventually("the webhook to be taken") {
                received().count == 4 ? received() : nil
            }
            #expect(Set(try all.map { try $0.event.id }).count == 1)
        }
    }

    @Test func webhooksMayComeTwiceAndOutOfOrder() async throws {
        let set: @Sendable (inout StandInOptions.Webhooks) -> Void = {
            $0.isDoubled = true
            $0.isReversed = true
        }
        try await Self.run(set) { test, received in
            let customer = try await test.customer()
            try await eventually("the customer's") { received().count == 2 ? true : nil }
            _ = try await test.charge("a1", of: customer)
            let all = try await eventually("the payment's") {
                received().count == 8 ? received() : nil
            }
            let types = try all.dropFirst(2).map { try $0.event.type }
            #expect(types.first == "payment_intent.succeeded")
            #expect(types.last == "payment_intent.created")
            #expect(Set(types).count == 3)
        }
    }

    @Test func anOldSignatureIsStale() async throws {
        try await Self.run({ $0.age = 400 }) { test, received in
            _ = try await test.customer()
            let one = try await eventually("the webhook") { received().first }
            let check = StripeSignatureCheck(secrets: Self.secrets.map { StripeSecret($0) })
            #expect(check.check(one.body, header: one.signature, now: .now()) == .stale)
        }
    }
}
