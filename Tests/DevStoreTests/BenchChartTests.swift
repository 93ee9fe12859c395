import Foundation
import StoreHarness
import Testing

@testable import devstore

@Suite struct BenchChartTests {
    private func record(
        purchases: Int,
        rate: Double,
        seconds: Double,
        ratio: Double? = nil
    ) throws -> BenchChart.Record {
        let ratios = ratio.map { #""http_to_yardstick": \#($0),"# } ?? ""
        let json = """
            {\(ratios) "purchases": \(purchases), "purchases_per_second": \(rate),
            "ceiling_purchases_per_second": 3000, "drained_purchases_per_second": 2000,
            "drain_ceiling_purchases_per_second": 4000,
            "processes": {"postgresql": {"cpu_seconds": \(seconds)}}}
            """
        return try JSONDecoder().decode(BenchChart.Record.self, from: Data(json.utf8))
    }

    @Test func theStoredChartIsThatOfTheStoredRecords() throws {
        let folder = SourceTree.root.appendingPathComponent("deploy/benchmarks")
        let kept = try String(
            contentsOf: folder.appendingPathComponent("chart.svg"),
            encoding: .utf8
        )
        #expect(
            try BenchChart(ofRecordsIn: folder).svg == kept,
            "draw it again: .build/debug/devstore bench --chart"
        )
    }

    @Test func eachRecordHasItsRatesAndItsCost() throws {
        let svg = BenchChart(
            of: [("one", try record(purchases: 1000, rate: 1500, seconds: 0.5))]
        ).svg
        #expect(svg.contains(">one<"))
        #expect(svg.contains(">1500 of 3000<"))
        #expect(svg.contains(">2000 of 4000<"))
        #expect(svg.contains(">500<"), "half a second for 1000 purchases is 500 µs each")
    }

    @Test func aRecordFromBeforeTheYardstickSaysSo() throws {
        let svg = BenchChart(
            of: [
                ("old", try record(purchases: 1, rate: 1, seconds: 0)),
                ("new", try record(purchases: 1, rate: 1, seconds: 0, ratio: 0.1234)),
            ]
        ).svg
        #expect(svg.contains(">0.123<"))
        #expect(svg.split(separator: ">not measured<").count == 4, "twice of old, once of new")
    }

    @Test func namesAreWrittenAsText() throws {
        let svg = BenchChart(
            of: [("<a&b>", try record(purchases: 1, rate: 1, seconds: 0))]
        ).svg
        #expect(svg.contains("&lt;a&amp;b"))
        #expect(!svg.contains("<a&b>"))
    }
}
