import Foundation
import NIOCore
import Testing

@testable import ServiceKit

struct StrictJSONTests {
    private func fault(_ text: String) -> StrictJSON.Fault? {
        StrictJSON.fault(in: Array(text.utf8))
    }

    @Test(
        arguments: [
            (#"{"a":1,"a":2}"#, "a"), (#"{"a":1,"b":{"c":[1,{"d":1,"e":2,"d":3}]}}"#, "d"),
            (#"[{"a":1},{"b":{},"b":[]}]"#, "b"), (#"{"a":1,"\u0061":2}"#, "a"),
            (#"{"q\"":1,"q\"":1}"#, #"q""#), (#"{"":1,"":1}"#, ""),
            (#"{ "a" : "b,{" , "a" : 1 }"#, "a"), (#"{"a":{"b":1},"c":2,"a":3}"#, "a"),
            // The decoder keeps only one of two names that differ only in their code points.
            ("{\"\u{E9}\":1,\"e\u{301}\":2}", "\u{E9}"),
        ]
    )
    func duplicateNamesAreFoundAtAnyDepth(text: String, name: String) {
        #expect(fault(text) == .duplicate(name))
    }

    @Test func aDuplicateIsFoundAmongManyNames() {
        for count in [15, 16, 17, 18, 20_000] {
            let members = (0..<count).map { "\"n\($0)\":{\"x\":\($0)}" }
            #expect(fault("{\(members.joined(separator: ","))}") == nil)
            for twice in [0, count / 2, count - 1] {
                let text = (members + ["\"n\(twice)\":0"]).joined(separator: ",")
                #expect(fault("{\(text)}") == .duplicate("n\(twice)"), "\(count) names")
            }
        }
    }

    @Test(
        arguments: [
            #"{"a":"a","b":["a","a"],"c":{"a":1},"d":{"a":1}}"#, #"[{"a":1},{"a":1}]"#,
            #"{"a":"\"a\":1,\"a\":2"}"#, "{\"a\":\"\u{E9}e\u{301}😀\"}", #"{"a":"\\u0000"}"#,
            "[0,0.0,-0.0,0e-999,1.0,1e2,1.50e1,120e-1,0.5,-2.25e1,1e400,123456789012345678901234567890]",
            "{}", "[]", "1", #""a""#, "", "\u{FEFF}{}",
        ]
    )
    func whatHasOneMeaningIsTaken(text: String) {
        #expect(fault(text) == nil)
    }

    @Test(arguments: [
        "1e-400", "-1e-400", "0.99999999999999999999", "1.00000000000000000001",
        "12e-99999999999999999999",
        "9007199254740993.5",
    ])
    func aNumberIsNotRoundedToAWholeOne(number: String) {
        #expect(fault("{\"quantity\":\(number)}") == .inexact(number))
        #expect(fault("[\(number)]") == .inexact(number))
        #expect(fault(number) == .inexact(number))
    }

    @Test func onlyUTF8IsTaken() throws {
        let text = #"{"a":"é"}"#
        for encoding: String.Encoding in [
            .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .isoLatin1,
        ] {
            let bytes = Array(try #require(text.data(using: encoding)))
            #expect(StrictJSON.fault(in: bytes) == .notUTF8, "\(encoding)")
        }
        // A surrogate, an overlong slash, and a truncated letter.
        for wrong: [UInt8] in [[0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xC3]] {
            #expect(StrictJSON.fault(in: [0x22] + wrong + [0x22]) == .notUTF8)
        }
    }

    @Test func whatIsNoJSONIsLeftToTheDecoder() {
        let texts = [
            "{", "}", "]]]]", #"{"a"#, #"{"a\"#, #"{"a\u00"#, ",,,", #"{"a","a""#, "-", "1e",
            "1.e.e",
            #"{"\x":1,"\x":1}"#, String(repeating: "[", count: 100_000),
            String(repeating: #"{"a":"#, count: 100_000),
        ]
        for text in texts {
            _ = fault(text)
            #expect(throws: DecodingError.self) {
                try StrictJSON.decode([String: Int].self, from: Data(text.utf8))
            }
        }
    }

    @Test func aFaultIsADecodingErrorWithoutAPath() throws {
        let error = #expect(throws: DecodingError.self) {
            try StrictJSON.decode([String: Int].self, from: Data(#"{"a":1,"a":1}"#.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.isEmpty)
    }

    /// A faster reader is handed no text that has two meanings, and what it does not read is decoded.
    @Test func aFasterReaderComesAfterTheCheck() throws {
        func read(_ text: String, _ value: [String: Int]?) throws -> [String: Int] {
            try decodeJSON([String: Int].self, from: ByteBuffer(string: text)) { _ in value }
        }
        #expect(throws: HTTPProblem.self) { try read(#"{"a":1,"a":2}"#, ["a": 3]) }
        #expect(try read(#"{"a":1}"#, ["a": 3]) == ["a": 3])
        #expect(try read(#"{"a":1}"#, nil) == ["a": 1])
    }
}
