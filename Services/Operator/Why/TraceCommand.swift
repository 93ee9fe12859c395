import ArgumentParser
import ClockAndIDs
import EventTypes
import OperatorCore
import StoreTracing

/// `counterfoil trace`: the spans of a purchase, collected from the services' files.
struct TraceCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Assembles a trace from the span files of the services.",
        discussion: """
            A service that is started with SPANS_FILE appends its spans to that file, one per \
            line, as OTLP/JSON. With SPANS_FILE=- it writes them into its log; other lines of \
            the log are ignored. This command prints each span of the trace below the span \
            that caused it. To see traces in a tracing system, let an OpenTelemetry collector read \
            the same files (otlpjsonfile).

            The trace of a transaction or an order is looked up in the services' databases.

            Examples:
              counterfoil trace 2175520387220000 /var/log/counterfoil/*.spans
              counterfoil trace 4bf92f3577b34da6a3ce929d0e0e4736 payments.log receipts.log

            JSON:
              {"traces": [ids], "spans": [{"traceID", "spanID", "parentSpanID", "service",
               "name", "start", "end" (nanoseconds since 1970), "attributes", "links",
               "isError"}]}
            """
    )

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "A trace id, a transaction id or an order id.")
    var subject: String

    @Argument(help: "Span files, or logs that contain spans.")
    var files: [String]

    func validate() throws {
        if TraceID(subject) == nil, transactionID == nil {
            throw ValidationError(
                "'\(subject)' is not a trace id (32 lower-case hexadecimal digits), transaction or order."
            )
        }
    }

    private var transactionID: TransactionID? {
        guard case .transaction(let id) = StorySubject(subject) else { return nil }
        return id
    }

    func perform() async throws {
        let traces = try await traces()
        let spans = try SpanFile.spans(of: Set(traces), in: files)
        if output.json {
            return try Console.say(json: Answer(traces: traces.map(\.description), spans: spans))
        }
        guard !spans.isEmpty else {
            throw OperatorError(
                .failed,
                """
                The files hold no span of trace \(traces.map(\.description).joined(separator: ", ")).
                Services record spans only where SPANS_FILE is set, and not those of requests whose \
                traceparent says 'not sampled'. For what happened, see: counterfoil why
                """
            )
        }
        for trace in traces {
            Console.say(output.palette.styled(Cell("trace", .dim)) + " \(trace)")
            let rows = Waterfall(spans.filter { $0.traceID == trace.description }).rows()
            Console.say(output.palette.table(rows, numbers: [0, 1]))
        }
    }

    private struct Answer: Encodable {
        let traces: [String]
        let spans: [RecordedSpan]
    }

    /// The trace that the subject names, or the traces of the transaction.
    private func traces() async throws -> [TraceID] {
        if let trace = TraceID(subject) { return [trace] }
        guard let transactionID else { return [] }
        let story = try await StoryBooksReader(databases: databases.addresses()).story(
            of: transactionID,
            at: StoreTime.wallClock(),
            .now()
        )
        let traces = story.traceIDs.compactMap { TraceID($0) }
        guard !traces.isEmpty else {
            throw OperatorError(
                .failed,
                "No event of transaction \(transactionID) has a trace: it is older than tracing."
            )
        }
        return traces
    }
}
