/// A piece of a page, in which texts are escaped.
///
/// Only literals of this program become markup. Whatever is interpolated becomes text, unless it is
/// a piece of a page already. Pure: it holds a value and nothing else.
struct HTML: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    let markup: String

    init(stringLiteral value: String) {
        markup = value
    }

    init(stringInterpolation: StringInterpolation) {
        markup = stringInterpolation.markup
    }

    private init(markup: String) {
        self.markup = markup
    }

    /// Joins pieces, one after the other.
    init(_ pieces: [HTML]) {
        markup = pieces.map(\.markup).joined()
    }

    /// The fields of a form that nobody sees.
    static func hidden(_ fields: [(name: String, value: String)]) -> [HTML] {
        fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" }
    }

    /// Collects literals and escaped texts.
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) {
            markup += literal
        }

        mutating func appendInterpolation(_ text: some CustomStringConvertible) {
            markup += HTML.escaped(text.description)
        }

        mutating func appendInterpolation(_ piece: HTML) {
            markup += piece.markup
        }

        mutating func appendInterpolation(_ piece: HTML?) {
            markup += piece?.markup ?? ""
        }

        mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { markup += piece.markup }
        }
    }

    /// A text as it may stand in an element or in a quoted attribute.
    ///
    /// Characters that nobody sees, or that change the direction of what follows, are replaced.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            case "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                escaped += "\u{FFFD}"
            default:
                let isControl = scalar.properties.generalCategory == .control
                escaped.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }
}
