import EventTypes

/// The page on which people redeem codes: plain HTML with a form, without a script.
///
/// Pure. All text that is not of this program is escaped.
enum RedemptionPage {
    /// The headers of the page: it loads nothing, runs nothing, and is in no frame.
    static let headers = [
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ]

    /// The form for a code.
    ///
    /// - Parameters:
    ///   - ticket: The ticket, which the form sends back.
    ///   - account: The account that the ticket signs in.
    ///   - code: The code that was typed before.
    ///   - problem: What was wrong with it; `nil` at first.
    /// - Returns: The page.
    static func form(
        _ ticket: String,
        of account: AccountKey,
        typed code: String = "",
        problem: String? = nil
    ) -> String {
        let alert = problem.map { "<p role=\"alert\">\(escaped($0))</p>" } ?? ""
        return page(
            "Redeem a code",
            """
            \(alert)
            \(paragraph(naming: account))
            <form method="post" action="redeem">
            <input type="hidden" name="ticket" value="\(escaped(ticket))">
            <label for="code">Code</label>
            <input id="code" name="code" value="\(escaped(code))" required maxlength="100"
             autocomplete="off" autocapitalize="characters" spellcheck="false" autofocus>
            <button>Continue</button>
            </form>
            """
        )
    }

    /// The question whether a code is to be redeemed for what it gives.
    static func question(
        _ terms: CodeTerms,
        mark: String,
        _ ticket: String,
        of account: AccountKey,
        code: String
    ) -> String {
        page(
            "Redeem this code?",
            """
            <p>\(escaped(sentence(for: terms)))</p>
            \(paragraph(naming: account))
            <form method="post" action="redeem">
            <input type="hidden" name="ticket" value="\(escaped(ticket))">
            <input type="hidden" name="code" value="\(escaped(code))">
            <input type="hidden" name="confirmed" value="\(escaped(mark))">
            <button>Redeem</button>
            </form>
            """
        )
    }

    /// A paragraph that names the account, so that nobody gives a code to the account of another who has
    /// sent them the address.
    private static func paragraph(naming account: AccountKey) -> String {
        let (name, app) = (escaped(account.accountID.rawValue), escaped(account.bundleID.rawValue))
        return "<p>It is for the account <strong>\(name)</strong> of the app \(app).</p>"
    }

    /// The page after a redemption, or when nothing can be done any more.
    static func end(_ title: String, _ sentence: String) -> String {
        page(title, "<p>\(escaped(sentence))</p>")
    }

    /// The terms of a code, in a sentence or two.
    static func sentence(for terms: CodeTerms) -> String {
        let start = terms.grant.beginsLater ? "From your next renewal" : "Now"
        let offer = terms.grant.first.map { words(for: $0) } ?? "\(terms.ordinary)"
        let first = "\(start): \(offer)"
        let later = terms.grant.later.map { ", then \(words(for: $0))" } ?? ""
        return "\(terms.product). \(first)\(later). "
            + "Afterwards it renews for \(terms.ordinary) until you cancel it."
    }

    private static func words(for offer: PeriodOffer) -> String {
        switch offer.mode {
        case .freeTrial: "\(length(offer.period)) for free"
        case .payUpFront: "\(length(offer.period)) for \(offer.price)"
        case .payAsYouGo, .unknown:
            offer.numberOfPeriods == 1
                ? "\(length(offer.period)) for \(offer.price)"
                : "\(offer.numberOfPeriods) times \(length(offer.period)) for \(offer.price) each"
        }
    }

    private static func length(_ period: SubscriptionPeriod) -> String {
        "\(period.value) \(period.unit)\(period.value == 1 ? "" : "s")"
    }

    private static func page(_ title: String, _ content: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escaped(title))</title>
        <style>
        :root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif; }
        main { max-width: 24rem; margin: 3rem auto; padding: 0 1rem; }
        input:not([type=hidden]), button { display: block; width: 100%; box-sizing: border-box;
         font: inherit; padding: .6rem; margin: .5rem 0; }
        [role=alert] { border-inline-start: .3rem solid; padding-inline-start: .6rem; }
        </style>
        </head>
        <body>
        <main>
        <h1>\(escaped(title))</h1>
        \(content)
        </main>
        </body>
        </html>

        """
    }

    /// A text as it may stand in an element or in a quoted attribute.
    static func escaped(_ text: String) -> String {
        // Most texts need nothing.
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default:
                let isControl = scalar.properties.generalCategory == .control
                escaped.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
            }
        }
        return escaped
    }

    /// Whether a byte is a character of ASCII that stands for itself.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
            UInt8(ascii: "'"):
            false
        default: (0x20..<0x7F).contains(byte)
        }
    }
}
