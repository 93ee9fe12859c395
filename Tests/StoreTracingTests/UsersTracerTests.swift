import StoreTracing
import Testing
import Tracing

/// A tracer that is not the store's own is told of the same spans, each under the one that caused it.
@Suite struct UsersTracerTests {
    private static let client = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func itSeesAPurchaseWithTheRightParents() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        // The request, the event of it, what publishes that, who applies it, and the call it leads to.
        let request = try #require(spans.step(after: TraceContext(Self.client), .server))
        let event = try #require(spans.next(after: request.traceparent))
        let place = event.traceparent
        let publish = StoreTracing.Span(
            "publish transaction.purchased.v1",
            .producer,
            place.child(),
            parent: place.spanID,
            from: 5,
            to: 6
        )
        let apply = try #require(spans.next(after: event.traceparent, .consumer))
        let call = try #require(spans.next(after: apply.traceparent, .client))
        spans.record(
            [
                request.span("POST /v1/payments", from: 1, to: 9),
                event.span("transaction.purchased.v1", from: 2, to: 3), publish,
                apply.span("apply transaction.purchased.v1", from: 7, to: 8),
                call.span(
                    "call webhook",
                    from: 7,
                    to: 8,
                    attributes: ["server.address": .text("example.com"), "try": .number(2)],
                    isError: true
                ),
            ].compactMap(\.self)
        )
        let told = tracer.told
        #expect(
            told.map(\.name) == [
                "POST /v1/payments", "transaction.purchased.v1", "publish transaction.purchased.v1",
                "apply transaction.purchased.v1", "call webhook",
            ]
        )
        #expect(told.map(\.kind) == [.server, .internal, .producer, .consumer, .client])
        try #require(told.count == 5)
        #expect(
            told.map(\.parent) == [
                Self.client, told[0].place, told[1].place, told[1].place, told[3].place,
            ]
        )
        // What travels is the place of the tracer's own span.
        #expect([request, event].map(\.traceparent.description) == [told[0].place, told[1].place])
        #expect([apply, call].map(\.traceparent.description) == [told[3].place, told[4].place])
        #expect(Set(told.map { $0.place.dropFirst(3).prefix(32) }).count == 1)
        #expect(told.map(\.isError) == [false, false, false, false, true])
        #expect(told[4].attributes.get("server.address") == .string("example.com"))
        #expect(told[4].attributes.get("try") == .int64(2))
    }

    @Test func aRequestWithoutATraceBeginsOneOfTheTracers() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        let step = try #require(spans.step(after: nil, .server))
        spans.record([step.span("GET /v1/products", from: 1, to: 2)].compactMap(\.self))
        #expect(tracer.told.map(\.place) == [step.traceparent.description])
        #expect(tracer.told.map(\.parent) == [nil])
    }

    @Test func whatIsNotSampledIsPassedByAndWhatIsRolledBackEnds() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        let unsampled = try #require(TraceContext(Self.client.dropLast(2) + "00"))
        #expect(spans.next(after: unsampled)?.traceparent == unsampled)
        #expect(tracer.told.isEmpty)
        do { _ = spans.next(after: TraceContext(Self.client)) }
        #expect(tracer.told.map { $0.attributes.get("counterfoil.discarded") } == [.bool(true)])
    }

    @Test func aLinkIsALinkOfTheTracers() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        let step = spans.step(after: TraceContext(Self.client), .internal, link: .begin())
        spans.record([step?.span("transaction.finished.v1", from: 1, to: 2)].compactMap(\.self))
        #expect(tracer.told.map(\.links) == [1])
    }
}
