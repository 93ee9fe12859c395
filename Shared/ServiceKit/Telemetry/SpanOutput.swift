import Foundation
import Logging
import StoreTracing
import Synchronization

/// Writes each span as one line of OTLP/JSON, the format of OpenTelemetry's file exporter.
///
/// OpenTelemetry's collector reads the file (`otlpjsonfile`) and forwards the spans by OTLP. The
/// file is opened with the first span and only appended to, each line with one call, so that the
/// lines of several processes never mix. Spans that cannot be written are dropped, which is logged
/// once until writing works again. A partial line that a full disk left behind spoils itself, and,
/// if several processes share the file, perhaps one line of another.
final class SpanOutput: Sendable {
    private enum Target {
        case unopened
        case open(Int32)
        case failed
    }
    private struct State {
        var target = Target.unopened
        /// Whether the last line could not be written, which has been logged.
        var isRefused = false
        /// Whether the file ends with a partial line.
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
    ///   - path: The file; `-` is standard error, the same as the log.
    ///   - service: The service that records the spans.
    ///   - logger: Receives a report if the file cannot be opened or written.
    ///   - writeLine: Writes a text to a descriptor, and returns the number of bytes it could not
    ///     write.
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
            // A partial line must spoil only itself, not the next line.
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

    /// The `TracesData` of one span in OTLP's JSON form: ids in hexadecimal, 64-bit numbers as
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
