import EventTypes
import Foundation
import OperatorCore
import StoreTracing

/// A span from a service's span file.
struct RecordedSpan: Encodable, Hashable, Sendable {
    let traceID: String
    let spanID: String
    /// The span that caused this one; it may be a client's, which is in none of the files.
    let parentSpanID: String?
    let service: String
    let name: String
    /// Nanoseconds since 1970.
    let start: UInt64
    /// Nanoseconds since 1970.
    let end: UInt64
    let attributes: [String: String]
    /// Other traces that the span links to.
    let links: [String]
    let isError: Bool
}

/// Span files: one span per line, in OTLP/JSON.
enum SpanFile {
    /// The largest number of spans that are read.
    static let countMax = 20_000

    /// Reads the spans of traces from files, in order of their start.
    ///
    /// Other lines, such as those of a log, are ignored, and so is a truncated line.
    ///
    /// - Throws: ``OperatorError`` for a file that cannot be read, or too many spans.
    static func spans(of traces: Set<TraceID>, in paths: [String]) throws -> [RecordedSpan] {
        let needles = traces.map { Data("\"traceId\":\"\($0)\"".utf8) }
        let decoder = JSONDecoder()
        var spans: Set<RecordedSpan> = []
        for path in paths {
            try forEachLine(of: path) { line in
                guard line.starts(with: Data(#"{"resourceSpans":"#.utf8)),
                    needles.contains(where: { line.firstRange(of: $0) != nil }),
                    let data = try? decoder.decode(TracesData.self, from: line)
                else { return }
                // The trace's id may also occur in a link of another trace's span.
                spans.formUnion(
                    data.spans.filter { TraceID($0.traceID).map(traces.contains) ?? false }
                )
                guard spans.count <= countMax else {
                    throw OperatorError(.failed, "There are more than \(countMax) spans.")
                }
            }
        }
        return spans.sorted { ($0.start, $0.end, $0.spanID) < ($1.start, $1.end, $1.spanID) }
    }

    private static func forEachLine(of path: String, _ body: (Data) throws -> Void) throws {
        let file: FileHandle
        do {
            file = try FileHandle(forReadingFrom: URL(filePath: path))
        } catch {
            throw OperatorError.unreadable(path, error, .usage)
        }
        var rest = Data()
        while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
            rest.append(chunk)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                try body(rest[..<end])
                rest = rest[rest.index(after: end)...]
            }
            rest = Data(rest)
        }
        if !rest.isEmpty { try body(rest) }
    }
}

/// The part of OTLP's `TracesData` that is read.
private struct TracesData: Decodable {
    struct ResourceSpans: Decodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    struct Resource: Decodable {
        let attributes: [Attribute]
    }

    struct ScopeSpans: Decodable {
        let spans: [SpanData]
    }

    struct SpanData: Decodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]?
        let links: [Link]?
        let status: Status?
    }

    struct Attribute: Decodable {
        struct Value: Decodable {
            let stringValue: String?
            let intValue: String?
        }

        let key: String
        let value: Value

        var text: String { value.stringValue ?? value.intValue ?? "" }
    }

    struct Link: Decodable {
        let traceId: String
    }

    struct Status: Decodable {
        let code: Int?
    }

    let resourceSpans: [ResourceSpans]

    var spans: [RecordedSpan] {
        resourceSpans.flatMap { resource in
            let service = resource.resource.attributes.first { $0.key == "service.name" }?.text
            return resource.scopeSpans.flatMap(\.spans).map { span in
                RecordedSpan(
                    traceID: span.traceId,
                    spanID: span.spanId,
                    parentSpanID: span.parentSpanId,
                    service: service ?? "",
                    name: span.name,
                    start: UInt64(span.startTimeUnixNano) ?? 0,
                    end: UInt64(span.endTimeUnixNano) ?? 0,
                    attributes: Dictionary(
                        (span.attributes ?? []).map { ($0.key, $0.text) },
                        uniquingKeysWith: { first, _ in first }
                    ),
                    links: (span.links ?? []).map(\.traceId),
                    isError: span.status?.code == 2
                )
            }
        }
    }
}
