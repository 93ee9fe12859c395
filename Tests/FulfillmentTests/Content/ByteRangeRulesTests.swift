import EventTypes
import Testing

@testable import Fulfillment

@Suite struct ByteRangeRulesTests {
    private let entityTag = "\"abc\""

    private func answer(
        _ range: String?,
        ifRange: String? = nil,
        length: Int64 = 100
    ) -> ByteRangeRules.Answer {
        ByteRangeRules.answer(
            range: range,
            ifRange: ifRange,
            entityTag: entityTag,
            length: length
        )
    }

    @Test(
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=0-9", 0..<10), ("bytes=10-", 10..<100),
            ("bytes=0-", 0..<100), ("bytes=99-", 99..<100), ("bytes=99-99", 99..<100),
            ("bytes=-1", 99..<100), ("bytes=-100", 0..<100), ("bytes=-101", 0..<100),
            ("bytes=90-100", 90..<100), ("bytes=0-99999999999999999999", 0..<100),
            ("bytes=-99999999999999999999", 0..<100), ("BYTES=1-2", 1..<3),
            ("bytes= 1 - 2 ", 1..<3), ("bytes=007-8", 7..<9),
        ] as [(String, Range<Int64>)]
    )
    func oneRangeOfBytesIsAPart(range: String, bytes: Range<Int64>) {
        #expect(answer(range) == .part(bytes))
    }

    @Test(arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"]
    )
    func aRangeOfNothingThatIsThereIsRefused(range: String) {
        #expect(answer(range) == .unsatisfiable)
    }

    @Test(arguments: [
        nil, "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=1-2,4-5",
        "bytes=1", "items=0-1", "bytes=--1", "bytes=+1-2", "bytes=1-2-3", "bytes=٣-٤",
    ])
    func whatIsNotOneRangeOfBytesIsIgnored(range: String?) {
        #expect(answer(range) == .whole)
    }

    @Test func aRangeOfSomethingElseIsIgnoredAndSoIsAWeakOrDatedClaim() {
        #expect(answer("bytes=5-", ifRange: entityTag) == .part(5..<100))
        #expect(answer("bytes=100-", ifRange: entityTag) == .unsatisfiable)
        for other in ["\"def\"", "W/\"abc\"", "abc", "Sat, 21 Nov 2026 11:00:00 GMT", ""] {
            #expect(answer("bytes=5-", ifRange: other) == .whole)
            #expect(answer("bytes=100-", ifRange: other) == .whole)
        }
    }
}
