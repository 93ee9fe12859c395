import EventTypes
import Testing

@testable import Operator
@testable import OperatorCore

@Suite struct ConsoleTests {
    @Test func coloursAreForTerminalsThatWantThem() {
        let screen = ["TERM": "xterm-256color"]
        #expect(OutputOptions.allowsColours(isTerminal: true, screen))
        #expect(!OutputOptions.allowsColours(isTerminal: false, screen))
        #expect(!OutputOptions.allowsColours(isTerminal: true, ["TERM": "dumb"]))
        #expect(!OutputOptions.allowsColours(isTerminal: true, [:]))
        #expect(
            !OutputOptions.allowsColours(isTerminal: true, screen.merging(["NO_COLOR": "1"]) { $1 })
        )
        #expect(
            OutputOptions.allowsColours(isTerminal: true, screen.merging(["NO_COLOR": ""]) { $1 })
        )
    }

    @Test func colouredTablesLineUpAsPlainOnesDo() {
        let rows: [[Cell]] = [[Cell("up", .green), "b"], ["longer", "c"]]
        #expect(Palette.plain.table(rows) == "up      b\nlonger  c")
        #expect(
            Palette(isColoured: true).table(rows) == "\u{1B}[32mup\u{1B}[0m      b\nlonger  c"
        )
    }

    @Test(arguments: [
        (0, "0 ms"), (850, "850 ms"), (1_000, "1 s"), (59_999, "59 s"), (60_000, "1 min"),
        (200_000, "3 min 20 s"), (18_120_000, "5 h 2 min"), (273_600_000, "3 d 4 h"),
        (86_400_000, "1 d"),
    ])
    func agesAreSaidInTwoUnitsAtMost(milliseconds: Int64, text: String) {
        #expect(Age(milliseconds: milliseconds).description == text)
    }

    @Test func whatIsYetToComeHasNoAge() {
        let now = StoreTime(millisecondsSinceEpoch: 1_000)
        #expect(Age(of: StoreTime(millisecondsSinceEpoch: 3_000), at: now).milliseconds == 0)
    }
}
