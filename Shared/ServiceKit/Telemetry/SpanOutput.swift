import Foundation
import Logging
import StoreTracing
import Synchronization

/// Writes each span as one line of OTLP/JSON, the form of OpenTelemetry's file exporter, which its
/// collector reads (`otlpjsonfile`) and passes on by OTLP.
///
/// The file is opened with the first span and only ever appended to, each line by one call, so that
/// the lines of several processes never mix. What cannot be written is dropped, and said once, until
/// it can be written again; half a line that a full disk left spoils itself, and where several
/// processes share the file perhaps one line of another.
final class SpanOutput: Sendable {
    private enum Target {
        case unopened
        case open(Int32)
        case failed
    }
    private struct State {
        var target = Target.unopened
        /// Whether the last line could not be written, which was said.
        var isRefused = false
        /// Whether the file ends within a line.
        var isTorn = false
    }

    private let path: String
    private let resource: String
    private let logger: Logger
    private let writeLine: @Sendable (String, Int32) -> Int
    private let state = Mutex(State())

    /// Makes an output.
    ///
    /// - Parameters:
    ///   - path: The file; `-` is standard error, where the log goes.
    ///   - service: Whose spans they are.
    ///   - logger: Told of a file that cannot be opened or written.
    ///   - writeLine: Writes a text to a descriptor, and says how many bytes it could not.
    init(
        path: String,
        service: String,
        logger: Logger,
        writeLine: @escaping @Sendable (String, Int32) -> Int = { writeAll($0, to: $1) }
    ) {
        self.path = path
        self.logger = logger
        self.writeLine = writeLine
        resource =
            #"{"attributes":[{"key":"service.name","value":{"stringValue":"#
            + jsonString(service) + "}}]}"
    }

    deinit {
        let target = state.withLock(\.target)
        if case .open(let descriptor) = target, descriptor != STDERR_FILENO {
            close(descriptor)
        }
    }

    /// Writes spans.
    func write(_ spans: [Span]) {
        guard let descriptor = descriptor() else { return }
        for span in spans { write(line(of: span), to: descriptor) }
    }

    private func write(_ line: String, to descriptor: Int32) {
        let (wasRefused, isRefused, reason) = state.withLock { state in
            // Half a line spoils itself, not the next one.
            let text = state.isTorn ? "\n" + line : line
            let missing = writeLine(text, descriptor)
            let reason = errno
            let written = text.utf8.count - missing
            state.isTorn = missing > 0 && (state.isTorn ? written != 1 : written > 0)
            defer { state.isRefused = missing > 0 }
            return (state.isRefused, missing > 0, reason)
        }
        switch (wasRefused, isRefused) {
        case (false, true):
            logger.error(
                "Spans cannot be written; they are dropped",
                metadata: ["path": "\(path)", "errno": "\(reason)"]
            )
        case (true, false): logger.notice("Spans are written again", metadata: ["path": "\(path)"])
        default: break
        }
    }

    private func descriptor() -> Int32? {
        state.withLock { state in
            switch state.target {
            case .open(let descriptor): return descriptor
            case .failed: return nil
            case .unopened:
                let descriptor =
                    path == "-"
                    ? STDERR_FILENO : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
                guard descriptor >= 0 else {
                    state.target = .failed
                    logger.error(
                        "The file of spans cannot be opened; they are dropped",
                        metadata: ["path": "\(path)", "errno": "\(errno)"]
                    )
                    return nil
                }
                state.target = .open(descriptor)
                return descriptor
            }
        }
    }

    /// A `TracesData` of one span, as OTLP writes it in JSON: ids in hexadecimal, 64-bit numbers as
    /// strings.
    func line(of span: Span) -> String {
        var json = #"{"resourceSpans":[{"resource":\#(resource),"scopeSpans":[{"scope":"#
        json += #"{"name":"counterfoil"},"spans":[{"traceId":"\#(span.context.traceID)","#
        json += #""spanId":"\#(span.context.spanID)","#
        if let parent = span.parent { json += #""parentSpanId":"\#(parent)","# }
        json += #""name":\#(text(span.name)),"kind":\#(span.kind.rawValue),"#
        json += #""startTimeUnixNano":"\#(span.start)","endTimeUnixNano":"\#(span.end)","#
        let attributes = span.attributes.sorted { $0.key < $1.key }.map { key, value in
            switch value {
            case .text(let value):
                #"{"key":\#(jsonString(key)),"value":{"stringValue":\#(text(value))}}"#
            case .number(let value):
                #"{"key":\#(jsonString(key)),"value":{"intValue":"\#(value)"}}"#
            }
        }
        json += #""attributes":[\#(attributes.joined(separator: ","))]"#
        if let link = span.link {
            json += #","links":[{"traceId":"\#(link.traceID)","spanId":"\#(link.spanID)"}]"#
        }
        if span.isError { json += #","status":{"code":2}"# }
        return json + "}]}]}]}\n"
    }

    private func text(_ value: String) -> String { jsonString(shortened(value)) }
}
