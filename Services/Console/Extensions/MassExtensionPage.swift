import EventTypes
import OperatorCore

/// An extension of all subscribers of a product: how far the store is, and who asked for it.
///
/// Pure.
struct MassExtensionPage {
    let listed: ListedMassExtension
    let visitor: Visitor

    private var request: MassExtension { listed.request }

    /// The path of the page.
    static func path(of request: MassExtension) -> String {
        "\(MassExtensionListPage.path(of: request.productID))/\(request.number)"
    }

    /// The state in words, with its tone.
    static func state(of listed: ListedMassExtension) -> NowField {
        listed.request.completedAt == nil
            ? NowField("under way", .warn) : NowField("done", .good)
    }

    /// A text that differs once the store is done.
    static func stamp(of listed: ListedMassExtension) -> String {
        listed.request.completedAt == nil ? "going" : "done"
    }

    /// The values that change while the page is open.
    static func fields(of listed: ListedMassExtension) -> [String: NowField] {
        let request = listed.request
        return [
            "extended": NowField(Int(request.succeededCount).grouped, .good),
            "failed": NowField(
                Int(request.failedCount).grouped,
                request.failedCount == 0 ? .plain : .warn
            ),
            "share": NowField("\(listed.share)"),
        ]
    }

    var html: HTML {
        let state = Self.state(of: listed)
        return PageFrame(
            title: "Extension \(request.number) of \(request.productID)",
            visitor: visitor,
            live: Self.path(of: request) + "/live",
            stamp: Self.stamp(of: listed),
            isFollowedWithoutEnd: true
        ).page(
            """
            <p class="verdict" role="status" id="state">It is <span class="tone-\(state.tone.rawValue)">\(state.text)</span>.</p>
            \(bar)
            <dl class="card facts">\(numbers)
            <div><dt>days</dt><dd>\(request.days)</dd></div>
            <div><dt>app</dt><dd>\(request.bundleID)</dd></div>
            <div><dt>storefronts</dt><dd>\(MassExtensionPreviewPage.words(for: request.storefronts))</dd></div>
            <div><dt>kind of reason</dt><dd>\(ExtensionFields.words(for: request.reasonCode))</dd></div>
            \(end)
            </dl>
            <p class="dim">The store does the work, so it goes on when this page is closed.</p>
            \(decision)
            <p><a href="\(MassExtensionListPage.path(of: request.productID))">All extensions of the product</a></p>
            """
        )
    }

    private var bar: HTML? {
        guard request.completedAt == nil else { return nil }
        return """
            <progress max="100" value="\(listed.share)" data-bar="share" aria-label="How far it is"></progress>
            """
    }

    private var numbers: [HTML] {
        let fields = Self.fields(of: listed)
        return [("extended", "extended"), ("failed", "could not be extended")].map { name, words in
            let field = fields[name] ?? NowField("unknown", .warn)
            return """
                <div><dt>\(words)</dt><dd><span data-field="\(name)" class="tone-\(field.tone.rawValue)">\
                \(field.text)</span></dd></div>
                """
        }
    }

    private var end: HTML? {
        request.completedAt.map {
            "<div><dt>done at</dt><dd>\(PlainWords.second($0))</dd></div>"
        }
    }

    private var decision: HTML {
        guard let act = listed.act else {
            return
                "<p>The merchant’s server asked for it at \(PlainWords.second(request.acceptedAt)).</p>"
        }
        return DecisionList.section([
            DecisionList.line("asked for it", at: request.acceptedAt, by: act)
        ])
    }
}
