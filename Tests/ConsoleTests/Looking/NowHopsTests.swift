import EventTypes
import Foundation
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct NowHopsTests {
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)
    private static let topic = "payments.transactions"

    private static func after(_ seconds: Int) -> MachineTime {
        start.advanced(by: .seconds(seconds))
    }

    /// The counts of `receipts`: the events within 5 ms, within 25 ms, within 10 s, and all.
    private static func counts(
        _ events: [Int],
        process: String = "1795237100.5"
    ) -> [OperatedService: HopCounts] {
        let lines = zip(["0.005", "0.025", "10", "+Inf"], events).map { bound, count in
            """
            event_hop_seconds_bucket{consumer="receipts",topic="\(topic)",le="\(bound)"} \(count)
            """
        }
        let text = """
            # TYPE event_hop_seconds histogram
            \(lines.joined(separator: "\n"))
            event_hop_seconds_count{consumer="receipts",topic="\(topic)"} \(events.last ?? 0)
            # TYPE process_start_time_seconds gauge
            process_start_time_seconds \(process)

            """
        return [.receipts: HopCounts(metrics: Data(text.utf8))]
    }

    private func text(_ hops: NowHops) -> String? {
        hops.fields["hop.receipts.payments.transactions"]?.text
    }

    @Test func metricsAreReadAsServicesWriteThem() {
        let counts = Self.counts([1, 2, 3, 4])[.receipts]
        #expect(counts?.process == "1795237100.5")
        #expect(counts?.topics.keys.sorted() == [Self.topic])
        #expect(counts?.topics[Self.topic]?.map(\.seconds) == [0.005, 0.025, 10, .infinity])
        #expect(counts?.topics[Self.topic]?.map(\.events) == [1, 2, 3, 4])
        let strange = HopCounts(metrics: Data("event_hop_seconds_bucket{le=\n\u{0}{}\n".utf8))
        #expect(strange.topics.isEmpty)
    }

    @Test func onlyEventsOfTheLastMinuteCount() {
        var hops = NowHops()
        hops.add(Self.counts([0, 0, 500, 500]), at: Self.start)
        #expect(text(hops) == "…", "one reading tells nothing")
        hops.add(Self.counts([60, 100, 600, 600]), at: Self.after(10))
        #expect(text(hops) == "half within 5 ms, 99 % within 25 ms")
        for seconds in stride(from: 20, through: 80, by: 10) {
            hops.add(Self.counts([60, 100, 600, 600]), at: Self.after(seconds))
        }
        #expect(text(hops) == "no events")
    }

    @Test func whatTookLongestIsNotHidden() {
        func field(_ events: [Int]) -> NowField? {
            var hops = NowHops()
            hops.add(Self.counts([0, 0, 0, 0]), at: Self.start)
            hops.add(Self.counts(events), at: Self.after(10))
            return hops.fields["hop.receipts.payments.transactions"]
        }
        #expect(field([40, 50, 99, 100])?.text == "half within 25 ms, 99 % within 10 s")
        let some = field([40, 50, 98, 100])
        #expect(some == NowField("half within 25 ms, some in more than 10 s", .warn))
        #expect(field([0, 0, 0, 1]) == NowField("half in more than 10 s", .bad))
    }

    @Test func aReplicaIsComparedWithItselfAlone() {
        var hops = NowHops()
        hops.add(Self.counts([10, 10, 10, 10]), at: Self.start)
        hops.add(Self.counts([900, 900, 900, 900], process: "2"), at: Self.after(10))
        #expect(text(hops) == "…", "another process has counted these")
        hops.add(Self.counts([10, 11, 11, 11]), at: Self.after(20))
        #expect(text(hops) == "half within 25 ms, 99 % within 25 ms")
    }

    @Test func aServiceThatIsAwayIsUnknown() {
        var hops = NowHops()
        hops.add(Self.counts([0, 0, 0, 0]), at: Self.start)
        hops.add([:], at: Self.after(10))
        let field = hops.fields["hop.receipts.payments.transactions"]
        #expect(field == NowField("unknown", .warn))
    }

    @Test func metricsAreReadEveryTenSecondsAndAnewAfterAPause() {
        var hops = NowHops()
        #expect(hops.isDue(at: Self.start))
        hops.add(Self.counts([0, 0, 0, 0]), at: Self.start)
        #expect(!hops.isDue(at: Self.after(9)) && hops.isDue(at: Self.after(10)))
        #expect(hops.isDue(at: Self.after(-1)), "the clock was set back")
        hops.add(Self.counts([7, 7, 7, 7]), at: Self.after(40))
        #expect(text(hops) == "…", "nobody looked for a while")
    }

    @Test func aTopicWhoseEventsWaitIsNotMeasured() {
        let topics = Set(NowHops.pairs.map(\.topic))
        #expect(topics.contains(Self.topic))
        #expect(!topics.contains(Topics.paymentsPurchasing.name))
    }
}
