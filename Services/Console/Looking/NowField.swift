import OperatorCore

/// A value of the first page, which changes while the page is open.
struct NowField: Hashable, Sendable, Encodable {
    /// The meaning of a value.
    ///
    /// The words say it, too: nobody has to see the colour.
    enum Tone: String, Sendable, Encodable { case plain, good, warn, bad }

    let text: String
    let tone: Tone

    init(_ text: String, _ tone: Tone = .plain) {
        self.text = text
        self.tone = tone
    }
}
