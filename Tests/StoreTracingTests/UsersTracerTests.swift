import StoreTracing
import Testing
import Tracing

/// A tracer that is not the store's own receives the same spans, each under the one that caused it.
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
        let received = tracer.received
        #expect(
            received.map(\.name) == [
                "POST /v1/payments", "transaction.purchased.v1", "publish transaction.purchased.v1",
                "apply transaction.purchased.v1", "call webhook",
            ]
        )
        #expect(received.map(\.kind) == [.server, .internal, .producer, .consumer, .client])
        try #require(received.count == 5)
        #expect(
            received.map(\.parent) == [
                Self.client, received[0].place, received[1].place, received[1].place,
                received[3].place,
            ]
        )
        // What travels is the place of the tracer's own span.
        #expect(
            [request, event].map(\.traceparent.description) == [
                received[0].place, received[1].place,
            ]
        )
        #expect(
            [apply, call].map(\.traceparent.description) == [received[3].place, received[4].place]
        )
        #expect(Set(received.map { $0.place.dropFirst(3).prefix(32) }).count == 1)
        #expect(received.map(\.isError) == [false, false, false, false, true])
        #expect(received[4].attributes.get("server.address") == .string("example.com"))
        #expect(received[4].attributes.get("try") == .int64(2))
    }

    @Test func aRequestWithoutATraceBeginsOneOfTheTracers() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        let step = try #require(spans.step(after: nil, .server))
        spans.record([step.span("GET /v1/products", from: 1, to: 2)].compactMap(\.self))
        #expect(tracer.received.map(\.place) == [step.traceparent.description])
        #expect(tracer.received.map(\.parent) == [nil])
    }

    @Test func whatIsNotSampledIsPassedByAndWhatIsRolledBackEnds() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        let unsampled = try #require(TraceContext(Self.client.dropLast(2) + "00"))
        #expect(spans.next(after: unsampled)?.traceparent == unsampled)
        #expect(tracer.received.isEmpty)
        do { _ = spans.next(after: TraceContext(Self.client)) }
        #expect(tracer.received.map { $0.attributes.get("counterfoil.discarded") } == [.bool(true)])
    }

    @Test func aLinkIsALinkOfTheTracers() throws {
        let tracer = UsersTracer()
        let spans = SpanRecorder(tracer)
        let step = spans.step(after: TraceContext(Self.client), .internal, link: .begin())
        spans.record([step?.span("transaction.finished.v1", from: 1, to: 2)].compactMap(\.self))
        #expect(tracer.received.map(\.links) == [1])
    }
}
