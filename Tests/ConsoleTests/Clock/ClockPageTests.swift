import EventTypes
import StoreAPI
import Testing

@testable import Console

@Suite struct ClockPageTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func clock(
        _ status: ClockResponse.Status = .ready,
        _ mode: ClockResponse.Mode = .machines
    ) -> ClockResponse {
        var clock = ClockResponse(now: now, step: 3, mode: mode, status: status)
        clock.start = now.advanced(by: .seconds(-100))
        clock.target = now.advanced(by: .seconds(300))
        clock.waitsFor = ["renewals"]
        clock.failure = "<b>"
        return clock
    }

    private func dialogs(_ clock: ClockResponse, _ visitor: Visitor) -> [String] {
        let page = ClockPage(clock: clock, visitor: visitor, key: "key").html.markup
        return ["advance", "run", "freeze", "machines", "resume"].filter {
            page.contains("<dialog id=\"\($0)\"")
        }
    }

    @Test func theChangesFollowTheStateOfTheClock() {
        let visitor = Visitor.sample([.operator])
        #expect(dialogs(Self.clock(), visitor) == ["advance", "run", "freeze"])
        #expect(dialogs(Self.clock(.ready, .frozen), visitor) == ["advance", "run", "machines"])
        #expect(dialogs(Self.clock(.advancing), visitor).isEmpty)
        #expect(dialogs(Self.clock(.failed), visitor) == ["resume"])
        #expect(dialogs(Self.clock(), .sample([.read])).isEmpty)
    }

    @Test func anAdvanceSaysHowFarItIs() {
        #expect(ClockFields.progress(of: Self.clock(.advancing)) == 25)
        #expect(ClockFields.progress(of: Self.clock()) == nil)
        let fields = ClockFields.fields(of: Self.clock(.advancing))
        #expect(fields["advance"]?.text.hasSuffix("25 %") == true)
        #expect(fields["waits"]?.text == "renewals")
    }

    @Test func aFailureIsText() {
        let page = ClockPage(
            clock: Self.clock(.failed),
            visitor: .sample([.operator]),
            key: "key"
        ).html.markup
        #expect(page.contains("&lt;b&gt;") && !page.contains("<b>"))
    }

    @Test func aFormIsReadAsOneChange() throws {
        func change(_ text: String) throws -> ClockChange {
            try ClockChange(try #require(FormFields(text)))
        }
        let key = try #require(IdempotencyKey(rawValue: "k"))
        #expect(
            try change("act=advance&by=31d&key=k")
                == .advance(ClockAdvanceRequest(by: "31d"), key: key)
        )
        #expect(try change("act=run&rate=1h%3D1d") == .run(rate: "1h=1d"))
        #expect(try change("act=machines") == .run(rate: nil))
        for text in ["", "act=advance&by=soon&key=k", "act=advance&by=1d", "act=run&rate=1d"] {
            #expect(throws: ConsoleProblem.self, "\(text)") { try change(text) }
        }
    }
}
