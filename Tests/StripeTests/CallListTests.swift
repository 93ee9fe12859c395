import EventTypes
import Foundation
import TestSupport
import Testing

@testable import Stripe

/// The list of the client's calls, which `make stripe` compares with those of Stripe's own library.
@Suite(.timeLimit(.minutes(10))) struct CallListTests {
    @Test func theListHasEveryCallAsItIsSent() async throws {
        let receiver = try await WebhookReceiver.start()
        let key = try StripeKey("rk_test_abcdefgh1", environment: .sandbox)
        let client = StripeClient(
            StripeClient.Settings(baseURL: String(receiver.url.dropLast("/deliveries".count))),
            logger: StandInUnderTest.quiet
        ) { key }
        for call in Self.calls(client) {
            // The answers are empty, so no call has a result.
            do { try await call() } catch is StripeFailure {}
        }
        await client.shutDown()
        let sent = receiver.deliveries.map { delivery in
            [delivery.method, delivery.path, String(decoding: delivery.body, as: UTF8.self)]
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        await receiver.stop()
        let file = SourceTree.root.appending(path: "Tests/StripeLibrary/calls.txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map(String.init)
        #expect(lines == ["version \(StripeClient.version)"] + sent)
    }

    private typealias Call = @Sendable () async throws -> Void

    /// Each call of the client, once; those with several forms, once in each.
    private static func calls(_ client: StripeClient) -> [Call] {
        let begin = MachineTime(millisecondsSinceEpoch: 1_795_000_000_000)
        let part = StripeListRequest(from: begin, until: begin.advanced(by: .seconds(600)))
        var events = part
        events.types = ["payment_intent.succeeded", "refund.failed"]
        let (eventList, key) = (events, StripeIdempotencyKey(attempt: "a1", kind: .charge))
        return [
            { _ = try await client.createCustomer(metadata: ["customer_key": "k1"], key: key) },
            {
                _ = try await client.createSetupIntent(
                    customer: "cus_1",
                    metadata: ["text": "ä & b=c+d"],
                    key: key
                )
            },
            { _ = try await client.setupIntent("seti_1") },
            { _ = try await client.paymentMethod("pm_1") },
            { _ = try await client.detachPaymentMethod("pm_1", key: key) },
            {
                let request = try Self.charge(
                    .present(returnURL: "https://app.example.com/back?a=b"),
                    suffix: "LEVELS"
                )
                _ = try await client.createPaymentIntent(request, key: key)
            },
            { _ = try await client.createPaymentIntent(try Self.charge(.away), key: key) },
            { _ = try await client.paymentIntent("pi_1") },
            {
                _ = try await client.updatePaymentIntent(
                    "pi_1",
                    metadata: ["transaction": "8"],
                    key: key
                )
            },
            { _ = try await client.cancelPaymentIntent("pi_1", key: key) },
            {
                _ = try await client.paymentIntents(
                    ofAttempt: "a1",
                    customer: "cus_1",
                    firstCalled: begin
                )
            },
            {
                _ = try await client.createRefund(
                    of: "pi_1",
                    ProcessorAmount(wire: 500, currency: "usd"),
                    metadata: ["attempt": "a2", "key": "a2-refund-0"],
                    key: key
                )
            },
            { _ = try await client.refund("re_1") },
            { _ = try await client.refunds(of: "pi_1", StripeListRequest(after: "re_1")) },
            { _ = try await client.dispute("dp_1") },
            { _ = try await client.events(eventList) },
            { _ = try await client.balanceTransactions(part) },
            { _ = try await client.balance() },
        ]
    }

    /// A charge of 9.99 USD.
    private static func charge(
        _ session: PaymentIntentRequest.Session,
        suffix: String? = nil
    ) throws -> PaymentIntentRequest {
        PaymentIntentRequest(
            amount: try ProcessorAmount(
                Money(minorUnits: 999, currency: Currency(unchecked: "USD"))
            ),
            customer: "cus_1",
            paymentMethod: "pm_1",
            session: session,
            metadata: ["attempt": "a1", "key": "a1-charge-0", "transaction": "7"],
            statementSuffix: suffix
        )
    }
}
