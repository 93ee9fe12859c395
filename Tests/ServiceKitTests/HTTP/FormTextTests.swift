import ServiceKit
import Testing

struct FormTextTests {
    /// The fields, each as `name=value`; a text that is `nil` is a question mark.
    private func fields(_ form: String) -> [String] {
        FormText.fields(of: Array(form.utf8)).map { "\($0.name ?? "?")=\($0.value ?? "?")" }
    }

    @Test func fieldsComeInTheirOrderAndDecoded() {
        #expect(
            fields("ticket=0af&code=AB-12+34&confirmed=%7B%22a%22%3A%221%2F2%22%7D")
                == ["ticket=0af", "code=AB-12 34", #"confirmed={"a":"1/2"}"#]
        )
        #expect(fields("a=1&a=2") == ["a=1", "a=2"])
        #expect(fields("%C3%A9=%e2%82%ac") == ["é=€"])
    }

    @Test func aFieldMayHaveNoValueAndAValueAnySign() {
        #expect(fields("a&b=&=c&d=1=2") == ["a=", "b=", "=c", "d=1=2"])
        #expect(fields("") == [] && fields("&&") == [])
    }

    @Test(arguments: ["a=%", "a=%4", "a=%G0", "a=%0G", "a=%%41", "a=%FF", "a=%C3", "a=%ED%A0%80"])
    func aMalformedTextIsNoText(form: String) {
        #expect(fields(form) == ["a=?"])
        #expect(fields("b=1&\(form)&c=2") == ["b=1", "a=?", "c=2"])
    }
}
