import Foundation

/// A chart of the kept benchmarks: purchases per second, and the processor time of each process.
///
/// Pure. The chart adapts to the reader's light or dark appearance.
struct BenchChart {
    /// One kept benchmark, as read from its file in `deploy/benchmarks`.
    struct Record: Decodable, Sendable {
        /// The resources that a process used.
        struct Process: Decodable, Sendable {
            let cpuSeconds: Double

            private enum CodingKeys: String, CodingKey { case cpuSeconds = "cpu_seconds" }
        }

        let purchases: Int
        let purchasesPerSecond: Double
        let ceilingPurchasesPerSecond: Double
        let drainedPurchasesPerSecond: Double
        let drainCeilingPurchasesPerSecond: Double
        /// The rates divided by the yardstick's; `nil` in records from before the yardstick.
        let httpToYardstick: Double?
        let drainedToYardstick: Double?
        let processes: [String: Process]

        private enum CodingKeys: String, CodingKey {
            case purchases, processes
            case purchasesPerSecond = "purchases_per_second"
            case ceilingPurchasesPerSecond = "ceiling_purchases_per_second"
            case drainedPurchasesPerSecond = "drained_purchases_per_second"
            case drainCeilingPurchasesPerSecond = "drain_ceiling_purchases_per_second"
            case httpToYardstick = "http_to_yardstick"
            case drainedToYardstick = "drained_to_yardstick"
        }
    }

    /// The processes of the store with their colors, from the largest share to the smallest.
    private static let processes = [
        ("postgresql", "#4c78a8"), ("fulfillment", "#f58518"), ("payments", "#54a24b"),
        ("broker", "#b279a2"), ("receipts", "#e45756"), ("catalog", "#9d755d"),
    ]
    private static let left = 250
    private static let width = 480
    private static let bar = 16

    private let records: [(name: String, record: Record)]

    /// Makes the chart of some benchmarks.
    ///
    /// - Parameter records: The benchmarks with their names, in drawing order.
    init(of records: [(name: String, record: Record)]) {
        self.records = records
    }

    /// The chart, as an SVG file.
    var svg: String {
        var lines = Lines(left: Self.left, bar: Self.bar)
        lines.title("Purchases a second, divided by those of the machine's yardstick")
        let ratioMax =
            records.flatMap { [$0.record.httpToYardstick, $0.record.drainedToYardstick] }
            .compactMap { $0 }.max() ?? 1
        for (name, record) in records {
            lines.label(name)
            let scale = Double(Self.width) / ratioMax
            lines.ratio("over HTTP", record.httpToYardstick, scale: scale)
            lines.ratio("drained", record.drainedToYardstick, scale: scale)
        }
        let rateMax =
            records.map {
                max($0.record.ceilingPurchasesPerSecond, $0.record.drainCeilingPurchasesPerSecond)
            }.max() ?? 1
        lines.title("Purchases a second; the outline is what the same SQL reaches alone")
        for (name, record) in records {
            lines.label(name)
            lines.rate(
                "over HTTP",
                record.purchasesPerSecond,
                of: record.ceilingPurchasesPerSecond,
                scale: Double(Self.width) / rateMax
            )
            lines.rate(
                "drained",
                record.drainedPurchasesPerSecond,
                of: record.drainCeilingPurchasesPerSecond,
                scale: Double(Self.width) / rateMax
            )
        }
        lines.title("Processor time of a purchase over HTTP, in microseconds")
        let costs = records.map { Self.costs(of: $0.record) }
        let costMax = costs.map { $0.reduce(0) { $0 + $1.microseconds } }.max() ?? 1
        for ((name, _), cost) in zip(records, costs) {
            lines.stack(name, cost, scale: Double(Self.width) / max(costMax, 1))
        }
        lines.legend(Self.processes)
        return lines.document
    }

    /// The share of a process in a purchase.
    fileprivate struct Share {
        let name: String
        let colour: String
        let microseconds: Double
    }

    private static func costs(of record: Record) -> [Share] {
        processes.map { name, colour in
            Share(
                name: name,
                colour: colour,
                microseconds: (record.processes[name]?.cpuSeconds ?? 0) * 1_000_000
                    / Double(max(record.purchases, 1))
            )
        }
    }
}

/// The chart's elements, added from top to bottom.
private struct Lines {
    let left: Int
    let bar: Int
    private var y = 12
    private var body: [String] = []

    init(left: Int, bar: Int) {
        self.left = left
        self.bar = bar
    }

    mutating func title(_ text: String) {
        y += 22
        body.append(#"<text x="16" y="\#(y)" class="title">\#(Self.escaped(text))</text>"#)
        y += 14
    }

    mutating func label(_ text: String) {
        y += 16
        body.append(#"<text x="16" y="\#(y)" class="name">\#(Self.escaped(text))</text>"#)
        y += 6
    }

    mutating func rate(_ name: String, _ rate: Double, of ceiling: Double, scale: Double) {
        row(name)
        rectangle(x: left, width: rate * scale, #"class="rate""#)
        rectangle(x: left, width: ceiling * scale, #"class="ceiling""#)
        let end = left + Int((max(rate, ceiling) * scale).rounded())
        value("\(Int(rate)) of \(Int(ceiling))", x: end + 8)
        y += bar + 6
    }

    mutating func ratio(_ name: String, _ ratio: Double?, scale: Double) {
        row(name)
        if let ratio {
            rectangle(x: left, width: ratio * scale, #"class="rate""#)
            let end = left + Int((ratio * scale).rounded())
            value(String(format: "%.3f", ratio), x: end + 8)
        } else {
            value("not measured", x: left)
        }
        y += bar + 6
    }

    mutating func stack(_ name: String, _ shares: [BenchChart.Share], scale: Double) {
        row(name)
        var x = Double(left)
        for share in shares {
            rectangle(
                x: Int(x.rounded()),
                width: share.microseconds * scale,
                #"fill="\#(share.colour)""#
            )
            x += share.microseconds * scale
        }
        value("\(Int(shares.reduce(0) { $0 + $1.microseconds }))", x: Int(x.rounded()) + 8)
        y += bar + 6
    }

    mutating func legend(_ processes: [(String, String)]) {
        y += 8
        var x = left
        for (name, colour) in processes {
            body.append(
                #"<rect x="\#(x)" y="\#(y)" width="10" height="10" rx="2" fill="\#(colour)"/>"#
            )
            body.append(#"<text x="\#(x + 14)" y="\#(y + 10)" class="value">\#(name)</text>"#)
            x += 32 + 7 * name.count
        }
        y += 24
    }

    var document: String {
        let size = #"viewBox="0 0 860 \#(y)" width="860" height="\#(y)""#
        return """
            <svg xmlns="http://www.w3.org/2000/svg" \(size) role="img" aria-labelledby="title" \
            font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">
            <title id="title">Kept benchmarks: purchases a second and processor time of a purchase</title>
            <style>
            text { fill: #59636e; font-size: 12px } .title { fill: #1f2328; font-size: 14px; font-weight: 600 }
            .name { fill: #1f2328 } .rate { fill: #0969da } .ceiling { fill: none; stroke: #818b98 }
            @media (prefers-color-scheme: dark) {
            text { fill: #9198a1 } .title, .name { fill: #f0f6fc } .rate { fill: #4493f8 } }
            </style>
            \(body.joined(separator: "\n"))
            </svg>

            """
    }

    private mutating func row(_ name: String) {
        body.append(
            #"<text x="\#(left - 10)" y="\#(y + bar - 4)" text-anchor="end">\#(Self.escaped(name))</text>"#
        )
    }

    private mutating func rectangle(x: Int, width: Double, _ style: String) {
        let width = max(Int(width.rounded()), 1)
        body.append(#"<rect x="\#(x)" y="\#(y)" width="\#(width)" height="\#(bar)" \#(style)/>"#)
    }

    private mutating func value(_ text: String, x: Int) {
        body.append(#"<text x="\#(x)" y="\#(y + bar - 4)" class="value">\#(text)</text>"#)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
