import EventTypes
import OperatorCore
import StoreAPI

/// Extensions of all subscribers of a product, the newest first, and the form for another one.
///
/// Pure.
struct MassExtensionListPage {
    let product: ProductID
    let found: [ListedMassExtension]
    let visitor: Visitor

    /// The path of the page.
    static func path(of id: ProductID) -> String { PlainWords.path(ofProduct: id) + "/extensions" }

    var html: HTML {
        PageFrame(title: "Extensions of \(product)", visitor: visitor).page(
            "\(form)\(rows)\(productLink)"
        )
    }

    private var form: HTML {
        guard visitor.mayAct(as: .support) else { return "" }
        return """
            <section class="card" aria-labelledby="extend"><h2 id="extend">Extend all subscribers</h2>
            <p>Their running periods end later, and the next charges move along. Nobody pays for the days. This is for all \
            who are subscribed when it begins.</p>
            <form class="editor" method="post" action="\(Self.path(of: product))/preview">\(visitor.csrfField)
            \(HTML.hidden([("newest", "\(found.first?.request.number ?? 0)")]))
            <label for="extend-app">App, by its bundle id</label>
            <input id="extend-app" name="app" required autocomplete="off" spellcheck="false">
            <label for="extend-places">Storefronts, such as USA CAN; empty for all</label>
            <input id="extend-places" name="storefronts" autocomplete="off" spellcheck="false">
            \(ExtensionFields.html(in: "extend"))
            <button>Show whom it is for</button></form></section>
            """
    }

    private var rows: HTML {
        guard !found.isEmpty else {
            return
                "<p class=\"empty\">Nobody has extended all subscribers of \(product) yet.</p>"
        }
        return """
            <section aria-labelledby="made"><h2 id="made">What was asked for</h2>
            <ol class="rows">\(found.map(row))</ol></section>
            """
    }

    private func row(_ listed: ListedMassExtension) -> HTML {
        let request = listed.request
        let state = MassExtensionPage.state(of: listed)
        return """
            <li class="card row"><a href="\(MassExtensionPage.path(of: request))">\
            \(request.days) days for those in \(request.bundleID)</a>
            <span class="tone-\(state.tone.rawValue)">\(state.text)</span>
            <span>\(Int(request.succeededCount).grouped) extended</span>
            <span class="dim">\(listed.act.map { "\($0.decidedBy)" } ?? "the merchant’s server"), \
            \(PlainWords.second(request.acceptedAt))</span></li>
            """
    }

    private var productLink: HTML? {
        guard visitor.maySee(.products) else { return nil }
        return "<p><a href=\"\(PlainWords.path(ofProduct: product))\">The product</a></p>"
    }
}
