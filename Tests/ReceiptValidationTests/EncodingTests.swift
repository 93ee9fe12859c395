import EventTypes
import Foundation
import Testing

@testable import ReceiptValidation

@Suite struct EncodingTests {
    /// Base64url as Foundation writes it: the one implementation besides the product's, which would
    /// otherwise be compared with itself.
    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    @Test func base64IsWhatFoundationWrites() {
        var random = SplitMix64(state: 1)
        for length in 0...200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let standard = Data(bytes).base64EncodedString()
            #expect(StrictBase64.decode(standard, .standard) == bytes)
            #expect(StrictBase64.text(bytes, .standard) == standard)
            #expect(StrictBase64.decode(Self.base64URL(bytes)) == bytes)
            #expect(StrictBase64.text(bytes) == Self.base64URL(bytes))
        }
    }

    @Test func base64URLIsThatOfTheStandard() {
        let vectors = [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"), ("\u{3E}\u{3F}?~", "Pj8_fg"),
        ]
        for (text, encoded) in vectors {
            #expect(StrictBase64.text(text.utf8) == encoded)
            #expect(StrictBase64.decode(encoded) == Array(text.utf8))
        }
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AAAAA", "A===", "AA=A", "AAA=AAAA", "=", "====", "AA==AA==", "AB==",
        "AAB=", "AA==\n", " AAA", "AA-A", "AA_A", "A\u{0}AA", "AAA\u{E9}",
    ])
    func whatNoEncoderWritesIsNotBase64(_ text: String) {
        #expect(StrictBase64.decode(text, .standard) == nil)
    }

    @Test(arguments: ["A", "AAAAA", "AA==", "AAA=", "AB", "AAB", "AA+A", "AA/A", "A A", "AA\n"])
    func whatNoEncoderWritesIsNotBase64URL(_ text: String) {
        #expect(StrictBase64.decode(text) == nil)
    }

    @Test func derIsReadFrontToBack() throws {
        let bytes =
            DER.integer(5) + DER.text("five") + DER.element(4, [UInt8](repeating: 7, count: 300))
        var reader = DERReader(bytes[...])
        #expect(reader.nextInteger() == 5)
        #expect(reader.next(2) == nil, "The next is no integer.")
        #expect(reader.next(0x0C).map { String(decoding: $0, as: UTF8.self) } == "five")
        #expect(reader.next(4)?.count == 300)
        #expect(reader.isAtEnd)
        #expect(reader.next() == nil)
    }

    @Test(
        arguments: [
            [0x04], [0x04, 1], [0x04, 0x80], [0x04, 0x80, 0, 0], [0x04, 0x81, 1, 0],
            [0x04, 0x82, 0, 0x80], [0x04, 0x85, 0, 0, 0, 0, 1, 0], [0x04, 0xFF], [0x1F, 1, 0],
            [0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x04, 0x82, 1],
        ] as [[UInt8]]
    )
    func whatHasAnotherFormIsNotDER(_ bytes: [UInt8]) {
        var reader = DERReader(bytes[...])
        #expect(reader.next() == nil)
    }

    @Test func wholeNumbersHaveOneForm() {
        for (bytes, value) in [
            ([2, 1, 0], 0), ([2, 1, 0x7F], 127), ([2, 2, 0, 0x80], 128), ([2, 0], nil),
            ([2, 1, 0x80], nil), ([2, 2, 0, 0x7F], nil), ([2, 2, 0, 0], nil),
            ([2, 8, 0x7F, 255, 255, 255, 255, 255, 255, 255], Int64.max),
            ([2, 9, 0, 255, 255, 255, 255, 255, 255, 255, 255], nil),
        ] as [([UInt8], Int64?)] {
            #expect(DERReader.onlyInteger(in: bytes[...]) == value)
        }
    }
}
