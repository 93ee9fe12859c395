import EventTypes
import Foundation
import Testing

@Suite struct ActTests {
    @Test(arguments: ["damaged", "Beschädigt: 箱が潰れた", "👩‍👩‍👧", "a", String(repeating: "x", count: 500)])
    func aReasonIsAnyTextInOneLine(text: String) throws {
        let reason = try #require(ActReason(rawValue: text))
        let act = Act(decidedBy: AdministratorName(unchecked: "mia"), reason: reason)
        let data = try JSONEncoder().encode(act)
        #expect(try JSONDecoder().decode(Act.self, from: data) == act)
        #expect("\(act)" == "by mia: \(text)")
    }

    @Test(
        arguments: [
            "", " ", "\u{3000}\u{a0}", "two\nlines", "tab\t", "\u{0}", "\u{1b}[31m", "a\u{2028}b",
            String(repeating: "x", count: 501),
        ]
    )
    func aReasonIsNeitherEmptyNorLongNorOfControls(text: String) throws {
        #expect(ActReason(rawValue: text) == nil)
        let data = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ActReason].self, from: data)
        }
    }
}
