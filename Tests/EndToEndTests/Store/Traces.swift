import EventTypes
import Foundation
import NIOHTTP1
import StoreAPI
import StoreTracing
import Testing
import TestSupport

extension EndToEnd {
    /// A purchase is one trace across HTTP, Kafka, a merchant's endpoint and all logs.
    @Suite
    struct Traces {
        private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

        @Test func aPurchaseIsOneTraceAcrossAllServices() async throws {
            var options = StoreOptions()
            for service in StoreService.allCases { options.settings[service] = ["SPANS_FILE": "-"] }
            try await withStore(options) { store in
                try await store.importSampleCatalog()
                let merchant = try await WebhookReceiver.start()
                try await store.sellGift(deliveredTo: merchant.url)
                let watcher = try EventWatcher.start(store)
                let gift = try await store.buy(
                    SampleCatalog.gift,
                    traceparent: "00-\(Self.trace)-00f067aa0ba902b7-01"
                )
                // Another process of the client finishes it. It does not know the trace.
                try await store.client(account: "quinn").finishUntilDone(gift)
                _ = try await store.administrator.refund(gift).value
                try await store.expect(
                    [
                        "transaction.purchasing.v1", "transaction.purchased.v1",
                        "transaction.refunded.v1", "receipt.issued.v1", "receipt.reissued.v1",
                        "queue.changed.v1", "delivery.confirmed.v1", "transaction.finished.v1",
                    ],
                    of: gift,
                    in: Self.trace
                )
                let sent = try await eventually("the broker to have all of it") {
                    let sent = watcher.sightings.filter { $0.subject == gift.rawValue }
                    return Set(sent.map(\.type)).count == 8 ? sent : nil
                }
                let headers = Set(sent.compactMap { $0.headers["traceparent"] })
                #expect(sent.allSatisfy { $0.headers["traceparent"] != nil })
                #expect(
                    Set(headers.compactMap { TraceContext($0)?.traceID.description }) == [
                        Self.trace
                    ]
                )
                let webhook = try #require(merchant.deliveries.first)
                let header = webhook.headers.first(name: "traceparent").flatMap { TraceContext($0) }
                #expect(header?.traceID.description == Self.trace)
                await watcher.stop()
                await merchant.stop()
                try await store.tells(gift, in: Self.trace)
                try await store.putsTogether(gift)
            }
        }

        @Test func garbageIsANewTraceAndNoTwoPurchasesShareOne() async throws {
            try await withStore { store in
                try await store.importSampleCatalog()
                var purchases: [TransactionID] = []
                for traceparent in [
                    nil, nil, "garbage", "00-\(Self.trace)-0000000000000000-01",
                    "ff-\(Self.trace)-00f067aa0ba902b7-01", String(repeating: "0", count: 4000),
                ] as [String?] {
                    purchases.append(
                        try await store.buy(SampleCatalog.coins, traceparent: traceparent)
                    )
                }
                var traces: Set<String> = []
                for id in purchases {
                    try await store.client(account: "quinn").finishUntilDone(id)
                    let found = try await store.traces(of: id)
                    #expect(Set(found.map(\.trace)).count == 1, "\(found)")
                    traces.formUnion(found.map(\.trace))
                }
                #expect(traces.count == purchases.count && !traces.contains(Self.trace))
                // Spans were not requested.
                let answer = try await store.counterfoil(
                    ["trace", purchases[0].rawValue] + store.logs
                )
                #expect(answer.exit == .code(1), "\(answer)")
                #expect(answer.output.contains("SPANS_FILE"), "\(answer)")
            }
        }
    }
}

extension StoreHarness {
    /// The services' logs.
    fileprivate var logs: [String] {
        processes.map { "\(directory)/logs/\($0.name).log" }
    }

    fileprivate func buy(
        _ product: ProductID,
        traceparent: String?
    ) async throws -> TransactionID {
        let client = try client(account: "quinn")
        var payment = PaymentRequest.sample(product)
        payment.paymentMethod = try await client.payingMethod()
        let response = try await client.raw(
            .POST,
            client.urls.payments + Routes.payments,
            body: Array(try JSONEncoder().encode(payment)),
            headers: [
                ("content-type", "application/json"), ("idempotency-key", UUID().uuidString),
            ] + (traceparent.map { [("traceparent", $0)] } ?? [])
        )
        #expect(response.status == 201, "\(response.text)")
        return try response.decode(TransactionResponse.self).transaction.id
    }

    /// Returns the events that `counterfoil why` finds about a transaction, with their traces.
    fileprivate func traces(
        of id: TransactionID
    ) async throws -> [(type: String, trace: String)] {
        let steps = try await json("why", id.rawValue, "--json")["steps"] as? [[String: Any]] ?? []
        return steps.filter { $0["kind"] as? String == "event" }.map { step in
            // The text begins with "event" and the type.
            let words = (step["text"] as? String ?? "").split { " ,".contains($0) }
            return (
                type: words.dropFirst().first.map(String.init) ?? "",
                trace: step["traceID"] as? String ?? "none"
            )
        }
    }

    /// Waits until all services have logged a transaction, always in the trace.
    fileprivate func expect(
        _ types: Set<String>,
        of id: TransactionID,
        in trace: String
    ) async throws {
        let found = try await eventually("all services to tell of \(id)") {
            let found = try await traces(of: id)
            return types.isSubset(of: Set(found.map(\.type))) ? found : nil
        }
        #expect(found.allSatisfy { $0.trace == trace }, "\(found)")
    }

    /// Checks that `counterfoil why` prints the trace at each step.
    fileprivate func tells(_ id: TransactionID, in trace: String) async throws {
        let answer = try await counterfoil("why", id.rawValue, "--json")
        let story = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        )
        let steps = try #require(story["steps"] as? [[String: Any]])
        #expect(steps.count > 10)
        #expect(steps.allSatisfy { $0["traceID"] as? String == trace }, "\(answer.output)")
        let text = try await counterfoil("why", id.rawValue)
        #expect(text.output.contains("trace \(trace)\n"), "\(text.output)")
    }

    /// Checks that `counterfoil trace` combines four logs to one tree.
    fileprivate func putsTogether(_ id: TransactionID) async throws {
        let answer = try await counterfoil(["trace", id.rawValue] + logs)
        #expect(answer.exit == .code(0), "\(answer)")
        let hops = [
            ("payments", "POST /v1/payments 201"), ("payments", "transaction.purchased.v1"),
            ("payments", "publish transaction.purchased.v1"),
            ("receipts", "apply transaction.purchased.v1"),
            ("receipts", "publish receipt.issued.v1"), ("fulfillment", "apply receipt.issued.v1"),
            ("fulfillment", "call webhook: SUCCESS"), ("fulfillment", "transaction.finished.v1"),
            ("payments", "apply transaction.finished.v1"),
            ("payments", "transaction.refunded.v1"), ("receipts", "apply transaction.refunded.v1"),
        ]
        let lines = answer.output.split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        for (service, name) in hops {
            #expect(
                lines.contains { $0.contains(" ms \(service) \(name)") },
                "\(service) \(name)\n\(answer.output)"
            )
        }
        // Everything follows from the request, except the finish, which came in its own trace.
        let json = try await counterfoil(["trace", id.rawValue, "--json"] + logs)
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        let spans = try #require((object as? [String: Any])?["spans"] as? [[String: Any]])
        let known = Set(spans.compactMap { $0["spanID"] as? String })
        let roots = spans.filter { !known.contains($0["parentSpanID"] as? String ?? "") }
        #expect(roots.compactMap { $0["name"] as? String } == ["POST /v1/payments"])
        let finish = spans.first { $0["name"] as? String == "transaction.finished.v1" }
        #expect((finish?["links"] as? [String])?.count == 1)
        #expect(!answer.output.contains("quinn") && !json.output.contains("quinn"))
    }
}
