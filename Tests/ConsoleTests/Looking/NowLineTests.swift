import EventTypes
import Seals
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct NowLineTests {
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    /// A line of counts, one each two seconds.
    private static func line(_ counts: [Int], isCut: Bool = false) -> NowLine {
        var line = NowLine()
        for (index, count) in ([0] + counts).enumerated() {
            let types = [EventType.transactionPurchased.rawValue: count]
            line.add(
                EventCounts(types: types, place: .start, isCut: isCut),
                at: start.advanced(by: .seconds(2 * index))
            )
        }
        return line
    }

    private func points(_ line: NowLine) -> [String] {
        (line.fields["line.points"]?.text ?? "").split(separator: " ").map(String.init)
    }

    private func words(_ line: NowLine) -> String { line.fields["line.words"]?.text ?? "" }

    @Test func theGreatestRateTouchesTheUpperEdge() {
        // Ten seconds with ten purchases, and then ten with forty.
        let line = Self.line(Array(repeating: 2, count: 5) + Array(repeating: 8, count: 5))
        #expect(points(line) == ["280,44", "290,1"])
        #expect(
            words(line) == "Purchases of the last 20 s: 2.5 a second on average, 4 at the peak."
        )
    }

    @Test func aStoreWithoutPurchasesHasAFlatLine() {
        let line = Self.line(Array(repeating: 0, count: 200))
        #expect(points(line).count == 30)
        #expect(points(line).allSatisfy { $0.hasSuffix(",59") })
        #expect(points(line).first == "0,59" && points(line).last == "290,59")
        #expect(
            words(line) == "Purchases of the last 5 min: 0 a second on average, 0 at the peak."
        )
    }

    @Test func aLineBeginsAnewWhenNobodyHasLooked() {
        var line = Self.line([8, 8, 8])
        #expect(!points(line).isEmpty)
        let later = Self.start.advanced(by: .seconds(600))
        line.add(EventCounts(types: [:], place: .start), at: later)
        #expect(points(line).isEmpty)
        #expect(words(line) == "The line of purchases begins in a few seconds.")
    }

    @Test func aCountThatWasCutIsALowerBound() {
        let cut = words(Self.line([20_000, 0, 0, 0, 0], isCut: true))
        #expect(cut.contains(": more than 2,000 a second on average, more than 2,000 at"))
    }

    @Test func thePageHasTheLineAndItsWords() {
        let sample = NowSample(
            takenAt: Self.start,
            storeTime: nil,
            report: StatusReport(services: []),
            lag: nil,
            lagProblem: nil,
            line: Self.line(Array(repeating: 2, count: 10))
        )
        let page = NowPage(sample: sample, visitor: .sample([.read])).html.markup
        #expect(page.contains("role=\"img\" aria-labelledby=\"line-words\""))
        #expect(page.contains("data-line=\"line.points\" points=\"280,1 290,1\""))
        #expect(page.contains(">Purchases of the last 20 s:"))
        // The content policy refuses styles inside a page.
        #expect(!page.contains("style="))
        #expect(page.contains("<a href=\"/dead-letters\">What receipts could not apply</a>"))
        let merchandiser = NowPage(sample: sample, visitor: .sample([.merchandiser])).html.markup
        #expect(!merchandiser.contains("/dead-letters"))
    }
}
