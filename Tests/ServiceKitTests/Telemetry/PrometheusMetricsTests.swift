import CoreMetrics
import Testing

@testable import ServiceKit

@Suite struct PrometheusMetricsTests {
    private func lines(_ metrics: PrometheusMetrics) -> [String] {
        metrics.exposition().split(separator: "\n").map(String.init)
            .filter { !$0.contains("process_") && !$0.contains("series_dropped") }
    }

    @Test func countersGaugesAndHistogramsAreWrittenAsPrometheusReadsThem() {
        let metrics = PrometheusMetrics()
        let get = metrics.makeCounter(label: "http.requests", dimensions: [("method", "GET")])
        get.increment(by: 2)
        metrics.makeCounter(label: "http.requests", dimensions: [("method", "GET")])
            .increment(by: 1)
        metrics.makeCounter(label: "http.requests", dimensions: [("method", "P\"\\\n")])
            .increment(by: 1)
        let gauge = metrics.makeMeter(label: "pool-size", dimensions: [])
        gauge.set(4.5)
        gauge.increment(by: 1)
        metrics.makeRecorder(label: "level", dimensions: [], aggregate: false).record(Int64(7))
        #expect(
            lines(metrics) == [
                "# TYPE http_requests_total counter",
                #"http_requests_total{method="GET"} 3"#,
                #"http_requests_total{method="P\"\\\n"} 1"#,
                "# TYPE level gauge",
                "level 7",
                "# TYPE pool_size gauge",
                "pool_size 5.5",
            ]
        )
    }

    @Test func bucketsAreCumulative() {
        let metrics = PrometheusMetrics()
        let timer = metrics.makeTimer(label: "wait", dimensions: [("route", "/a")])
        timer.recordNanoseconds(400_000)
        timer.recordNanoseconds(1_000_000)
        timer.recordNanoseconds(60_000_000_000)
        let lines = lines(metrics)
        #expect(lines[0] == "# TYPE wait_seconds histogram")
        #expect(lines[1] == #"wait_seconds_bucket{route="/a",le="0.0005"} 1"#)
        #expect(lines[2] == #"wait_seconds_bucket{route="/a",le="0.001"} 2"#)
        #expect(lines.contains(#"wait_seconds_bucket{route="/a",le="10"} 2"#))
        #expect(lines.contains(#"wait_seconds_bucket{route="/a",le="+Inf"} 3"#))
        #expect(lines.contains(#"wait_seconds_count{route="/a"} 3"#))
        #expect(lines.contains(#"wait_seconds_sum{route="/a"} 60.0014"#))
    }

    @Test func theNumberOfSeriesIsBounded() {
        let metrics = PrometheusMetrics(seriesMax: 2)
        for number in 0..<5 {
            metrics.makeCounter(label: "c", dimensions: [("n", "\(number)")]).increment(by: 1)
        }
        #expect(lines(metrics).count == 3)
        #expect(metrics.exposition().contains("metrics_series_dropped_total 3\n"))
    }

    @Test func theProcessTellsOfItself() throws {
        let text = PrometheusMetrics().exposition()
        #expect(text.contains("process_cpu_seconds_total "))
        #if os(Linux)
        let line = try #require(
            text.split(separator: "\n").first { $0.hasPrefix("process_resident_memory_bytes ") }
        )
        #expect(try #require(Int(line.split(separator: " ")[1])) > 1_000_000)
        #expect(text.contains("process_open_fds "))
        let start = text.split(separator: "\n")
            .first { $0.hasPrefix("process_start_time_seconds ") }
            .flatMap { Double($0.split(separator: " ")[1]) }
        // In seconds since 1970, and not since the machine was started.
        #expect(try #require(start) > 1_577_836_800)
        #endif
    }
}
