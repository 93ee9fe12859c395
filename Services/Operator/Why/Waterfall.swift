import EventTypes

/// The spans of a trace as a tree: each below the span that caused it, in order of time.
///
/// Pure.
struct Waterfall: Hashable, Sendable {
    /// A span and its depth in the tree.
    struct Line: Hashable, Sendable {
        let depth: Int
        let span: RecordedSpan
    }

    /// The spans, each after its cause.
    let lines: [Line]

    /// Arranges spans as a tree.
    ///
    /// A span whose cause is missing (a client's span, or one from another file) has depth zero.
    ///
    /// - Parameter spans: The spans, in order of their start.
    init(_ spans: [RecordedSpan]) {
        let known = Set(spans.map(\.spanID))
        var children: [String: [RecordedSpan]] = [:]
        var roots: [RecordedSpan] = []
        for span in spans {
            if let parent = span.parentSpanID, known.contains(parent), parent != span.spanID {
                children[parent, default: []].append(span)
            } else {
                roots.append(span)
            }
        }
        var lines: [Line] = []
        var stack = roots.reversed().map { Line(depth: 0, span: $0) }
        while let line = stack.popLast() {
            lines.append(line)
            // Removing the children ends the loop even if spans name each other as parents.
            let next = children.removeValue(forKey: line.span.spanID) ?? []
            stack += next.reversed().map { Line(depth: line.depth + 1, span: $0) }
        }
        // Spans that name each other as parents have no root.
        let shown = Set(lines.map(\.span))
        self.lines = lines + spans.filter { !shown.contains($0) }.map { Line(depth: 0, span: $0) }
    }

    /// The tree for people: each span's start after the first, its length, its service, its name,
    /// and a bar on the time axis.
    func rows(width: Int = 32) -> [[Cell]] {
        guard let first = lines.map(\.span.start).min(), let last = lines.map(\.span.end).max()
        else { return [] }
        let whole = max(Double(last - first), 1)
        func column(_ time: UInt64) -> Int {
            min(Int(Double(time - first) / whole * Double(width)), width - 1)
        }
        let head = ["AFTER", "TOOK", "WHERE", "WHAT", "WHEN"].map { Cell($0, .dim) }
        return [head]
            + lines.map { line in
                let span = line.span
                let begin = column(span.start)
                let length = max(column(max(span.end, span.start)) - begin, 0) + 1
                var text = String(repeating: "  ", count: min(line.depth, 12)) + span.name
                if let status = span.attributes["http.response.status_code"] {
                    text += " \(status)"
                }
                if let result = span.attributes["counterfoil.result"] { text += ": \(result)" }
                if let link = span.links.first { text += ", asked for in trace \(link)" }
                return [
                    Cell(Self.milliseconds(span.start - first)),
                    Cell(Self.milliseconds(span.end >= span.start ? span.end - span.start : 0)),
                    Cell(span.service, .cyan),
                    Cell(text, span.isError ? .red : .plain),
                    Cell(
                        String(repeating: " ", count: begin)
                            + String(repeating: "█", count: length),
                        .dim
                    ),
                ]
            }
    }

    /// A duration as `12.345 ms`.
    private static func milliseconds(_ nanoseconds: UInt64) -> String {
        let microseconds = nanoseconds / 1000
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count)
            + fraction + " ms"
    }
}
