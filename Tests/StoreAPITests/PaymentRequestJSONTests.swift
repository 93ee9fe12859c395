import Foundation
import StoreAPI
import Testing

/// The request of a payment as it is read without Foundation's decoder, held against what that reads.
@Suite struct PaymentRequestJSONTests {
    private func fixture(_ name: String) throws -> Data {
        try Data(contentsOf: HTTPFixture.folder.appending(path: "payment.request\(name).json"))
    }

    private func plain(_ text: String) -> PaymentRequest? {
        PaymentRequest(json: Array(text.utf8))
    }

    @Test(arguments: ["", ".minimal", ".intent", ".discount", ".promotional", ".introductory"])
    func aRequestIsReadAsFoundationReadsIt(name: String) throws {
        let data = try fixture(name)
        let request = try JSONDecoder().decode(PaymentRequest.self, from: data)
        #expect(PaymentRequest(json: Array(data)) == request)
        // Foundation's encoder escapes slashes unless it is told not to.
        #expect(PaymentRequest(json: Array(try JSONEncoder().encode(request))) == request)
    }

    @Test func slashesMayBeEscaped() throws {
        let data = try fixture(".discount")
        var request = try JSONDecoder().decode(PaymentRequest.self, from: data)
        request.discount?.signature = "MEUC/Q+A/="
        request.applicationUsername = "ada/in/the/app"
        let escaped = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        #expect(escaped.contains(#"MEUC\/Q"#))
        #expect(plain(escaped) == request)
        #expect(plain(escaped.replacing(#"\/"#, with: "/")) == request)
    }

    @Test func membersMayBeNullAndOthersAreSkipped() throws {
        let text = """
            {"discount":null,"offer":null,"later":{"a":[1,"b",null]},"applicationUsername":null,
            "paymentMethod":"sandbox_success","price":{"currency":"USD","minorUnits":299},
            "productID":"club","quantity":1,"storefront":"USA","promotionalOffer":null}
            """
        let request = try JSONDecoder().decode(PaymentRequest.self, from: Data(text.utf8))
        #expect(plain(text) == request)
    }

    /// Foundation's decoder reads these, or says what is wrong with them.
    @Test(arguments: [
        (#""quantity":1"#, #""quantity":1.0"#), (#""quantity":1"#, #""quantity":"1""#),
        (#""quantity":1,"#, ""), (#""USA""#, #""usa""#), (#""sandbox_success""#, "null"),
        (#""sandbox_success""#, #""caf\u00e9""#), (#""sandbox_success""#, #""a\"b""#),
        (#""sandbox_success""#, #""é""#),
        (#""quantity":1"#, #""quantity":1,"offer":{"type":"introductory"}"#), ("{", "["),
    ])
    func whatIsNotPlainIsLeftToFoundation(part: String, other: String) {
        #expect(plain(Self.text) != nil)
        #expect(plain(Self.text.replacing(part, with: other)) == nil)
    }

    /// Such a body reaches the end of no thread's stack.
    @Test func whatIsVeryDeepIsNotRead() {
        let deep = String(repeating: "[", count: 30_000) + String(repeating: "]", count: 30_000)
        for member in [#""price":{"#, #""storefront":"USA","#] {
            #expect(plain(Self.text.replacing(member, with: member + #""later":\#(deep),"#)) == nil)
        }
    }

    private static let text = """
        {"storefront":"USA","paymentMethod":"sandbox_success","productID":"club","quantity":1,
        "price":{"currency":"USD","minorUnits":299}}
        """
}
