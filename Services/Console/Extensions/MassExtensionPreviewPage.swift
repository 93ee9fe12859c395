import EventTypes
import OperatorCore
import StoreAPI

/// An extension of all subscribers before it is asked for: whom it is for, and its confirmation.
///
/// Pure.
struct MassExtensionPreviewPage {
    let wish: MassExtensionForm.Wish
    let count: BoundedCount
    let visitor: Visitor

    private var path: String { MassExtensionListPage.path(of: wish.productID) }

    var html: HTML {
        PageFrame(title: "Extend subscribers of \(wish.productID)", visitor: visitor).page(
            """
            <p class="verdict" role="status">\(subscribers) would get \(wish.days) days.</p>
            \(bound)
            <dl class="card facts">
            <div><dt>product</dt><dd>\(wish.productID)</dd></div>
            <div><dt>app</dt><dd>\(wish.bundleID)</dd></div>
            <div><dt>storefronts</dt><dd>\(Self.words(for: wish.storefronts))</dd></div>
            <div><dt>kind of reason</dt><dd>\(ExtensionFields.words(for: wish.code.rawValue))</dd></div>
            </dl>
            <p class="dim">A subscription that is not paid, that is free now, or that was extended twice within 365 days \
            is not extended, and counts as failed.</p>
            \(ActDialog.row([confirmation]))
            <p><a href="\(path)">Back to the form</a></p>
            """
        )
    }

    /// Storefronts in words.
    static func words(for storefronts: [Storefront]?) -> String {
        storefronts.map { $0.map(\.rawValue).joined(separator: ", ") } ?? "all"
    }

    private var subscribers: String {
        count.count == 1 ? "1 subscriber" : "\(count.count.grouped) subscribers"
    }

    private var bound: HTML? {
        guard count.isAtLeast else { return nil }
        let lookedAt = Int(MassExtensionListStore.lookedAtMax).grouped
        return """
            <p>They were counted among the newest \(lookedAt) subscriptions of the store, so there may be more. All of them \
            are extended.</p>
            """
    }

    private var confirmation: ActDialog {
        ActDialog(
            id: "extend",
            words: "Extend them",
            explanation: """
                <p>All subscribers of <strong>\(wish.productID)</strong> in \(wish.bundleID), storefronts: \
                \(Self.words(for: wish.storefronts)), get <strong>\(wish.days) days</strong> that nobody pays. Nothing \
                takes the days back.</p>
                """,
            fields: """
                \(HTML.hidden(wish.fields))
                <label for="typed">Type the product, \(wish.productID)</label>
                <input id="typed" name="typed" required autocomplete="off" spellcheck="false">
                """,
            action: path,
            by: visitor
        )
    }
}
