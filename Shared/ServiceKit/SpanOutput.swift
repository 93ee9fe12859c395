import EventTypes
import Foundation
import Logging
import Synchronization

/// Writes each span as one line of OTLP/JSON, the form of OpenTelemetry's file exporter, which its
/// collector reads (`otlpjsonfile`) and passes on by OTLP.
///
/// The file is opened with the first span and only ever appended to, each line by one call, so that
/// the lines of several processes never mix. What cannot be written is dropped, and said once.
final class SpanOutput: Sendable {
    private enum Target {
        case unopened
        case open(Int32)
        case failed
    }

    private let path: String
    private let resource: String
    private let logger: Logger
    private let target = Mutex(Target.unopened)

    /// Makes an output.
    ///
    /// - Parameters:
    ///   - path: The file; `-` is standard error, where the log goes.
    ///   - service: Whose spans they are.
    ///   - logger: Told of a file that cannot be opened.
    init(path: String, service: String, logger: Logger) {
        self.path = path
        self.logger = logger
        resource =
            #"{"attributes":[{"key":"service.name","value":{"stringValue":"#
            + jsonString(service) + "}}]}"
    }

    deinit {
        if case .open(let descriptor) = target.withLock({ $0 }), descriptor != STDERR_FILENO {
            close(descriptor)
        }
    }

    /// Writes spans.
    func write(_ spans: [Span]) {
        guard let descriptor = descriptor() else { return }
        for span in spans { writeAll(line(of: span), to: descriptor) }
    }

    private func descriptor() -> Int32? {
        target.withLock { target in
            switch target {
            case .open(let descriptor): return descriptor
            case .failed: return nil
            case .unopened:
                let descriptor =
                    path == "-"
                    ? STDERR_FILENO : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
                guard descriptor >= 0 else {
                    target = .failed
                    logger.error(
                        "The file of spans cannot be opened; they are dropped",
                        metadata: ["path": "\(path)", "errno": "\(errno)"]
                    )
                    return nil
                }
                target = .open(descriptor)
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
