import StoreAPI

/// The parts that all pages have: the head, the bar with the search, and who is signed in.
///
/// Pure.
struct PageFrame {
    /// The title, which is also the first heading.
    let title: String
    /// The signed-in administrator; `nil` on the page for signing in.
    let visitor: Visitor?
    /// The path of the data that the page follows; `nil` if it follows none.
    var live: String?
    /// The number of changes that the page shows.
    var stamp = ""
    /// Whether the page is followed as long as it is open, because its data are cheap to read.
    var isFollowedWithoutEnd = false
    /// Whether the page is asked for again by itself, because a part of the store is away.
    var isTriedAgain = false
    /// The text of the search field.
    var query = ""

    /// The whole page around a body.
    func page(_ body: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title) · Counterfoil</title>
        <link rel="icon" href="/assets/icon.svg">
        <link rel="stylesheet" href="/assets/console.css">
        <script type="module" src="/assets/console.js"></script>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the content</a>
        \(bar)
        <main id="main" tabindex="-1"\(attributes)>
        <h1>\(title)</h1>
        <p id="connection" role="status" hidden></p>
        \(body)
        </main>
        \(foot)
        </body>
        </html>
        """
    }

    private var attributes: HTML {
        guard let live else { return isTriedAgain ? " data-retry" : "" }
        let isStory = !stamp.isEmpty && !isFollowedWithoutEnd
        return " data-live=\"\(live)\" data-stamp=\"\(stamp)\"\(isStory ? " data-story" : "")"
    }

    private var bar: HTML {
        guard let visitor else {
            return "<header><p class=\"brand\">Counterfoil console</p></header>"
        }
        let scopes = visitor.scopes.sorted().map(\.rawValue).joined(separator: ", ")
        return """
            <header>
            <p class="brand"><a href="/">Counterfoil console</a></p>
            <form class="who" method="post" action="/sign-out">
            <span>\(visitor.name) <span class="dim">(\(scopes)\(visitor.isReadOnly ? "; read-only" : ""))</span></span>
            \(visitor.csrfField)<button class="quiet">Sign out</button>
            </form>
            <nav aria-label="Pages">\(links)\(search)</nav>
            </header>
            """
    }

    /// The zone of all times, and the way out of all sessions, for somebody who has lost a device.
    private var foot: HTML {
        guard let visitor else { return "" }
        return """
            <footer>
            <p class="dim">All times are in UTC.</p>
            <form method="post" action="/sign-out">\(visitor.csrfField)<input type="hidden" name="everywhere" value="yes">\
            <span class="dim">Still signed in on a device that you no longer have?</span> \
            <button class="quiet">End all my sessions</button></form>
            </footer>
            """
    }

    /// The pages that the visitor may see.
    private var links: [HTML] {
        let places: [(sight: Sight?, path: String, name: String)] = [
            (nil, "/", "Now"), (.purchases, "/subscriptions", "Subscriptions"),
            (.purchases, "/approvals", "Approvals"),
            (.purchases, "/refund-requests", "Refund requests"),
            (.products, "/products", "Products"), (.products, "/codes", "Codes"),
            (.products, "/raises", "Raises"),
            (.deadLetters, "/dead-letters", "Dead letters"), (.jobs, "/replays", "Replays"),
            (.jobs, "/proofs", "Proofs"), (.purchases, "/acts", "Acts"),
            (.clock, "/clock", "Clock"),
        ]
        return places.filter { place in place.sight.map { visitor?.maySee($0) == true } ?? true }
            // A raise is also about subscribers.
            .filter { $0.path != "/raises" || visitor?.maySeeJobs(of: .raise) == true }
            // A store in production has no clock of its own.
            .filter { $0.sight != .clock || visitor?.session.isSandbox == true }
            .map { place in
                let current: HTML = place.name == title ? " aria-current=\"page\"" : ""
                return "<a href=\"\(place.path)\"\(current)>\(place.name)</a> "
            }
    }

    private var search: HTML {
        guard visitor?.maySee(.purchases) == true else { return "" }
        return """
            <form role="search" action="/search">
            <label class="unseen" for="q">Transaction, order, account or any other id</label>
            <input id="q" name="q" type="search" value="\(query)" placeholder="Transaction, order, account, any id" autocomplete="off" spellcheck="false">
            <button>Search</button>
            </form>
            """
    }
}
