/// Text in a style that terminals show.
///
/// Its meaning does not depend on the style.
struct Cell: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The style on a terminal.
    enum Style: String, Sendable {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }

    let text: String
    let style: Style

    init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    init(stringLiteral value: String) {
        self.init(value)
    }
}
