import Testing

@testable import Console

@Suite struct HTMLTests {
    @Test func whatIsInterpolatedIsText() {
        let title = "<img src=x onerror=\"alert('1')\">&amp;"
        let piece: HTML = "<b title=\"\(title)\">\(title)</b>"
        let text = "&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;"
        #expect(piece.markup == "<b title=\"\(text)\">\(text)</b>")
    }

    @Test func aPieceInAPieceIsMarkup() {
        let inner: HTML = "<i>\("<")</i>"
        let none: HTML? = nil
        let outer: HTML = "<b>\(inner)\([inner, inner])\(none)</b>"
        #expect(outer.markup == "<b><i>&lt;</i><i>&lt;</i><i>&lt;</i></b>")
    }

    @Test(arguments: ["a\u{202E}b", "a\u{2067}b", "a\u{0}b", "a\u{1B}b", "a\u{85}b"])
    func whatNobodySeesIsReplaced(_ text: String) {
        #expect(HTML.escaped(text) == "a\u{FFFD}b")
    }

    @Test(arguments: ["名前", "مريم", "👩\u{200D}👧", "two\nlines"])
    func everyScriptStaysAsItIs(_ text: String) {
        #expect(HTML.escaped(text) == text)
    }
}
