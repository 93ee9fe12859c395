import EventTypes
import OperatorCore

/// A raise of the price for those who subscribe already: the form, how far it is, and the result.
///
/// Pure.
struct RaisePage {
    /// The stage of the work.
    enum Stage: Hashable, Sendable {
        /// Nothing was asked for.
        case opened
        /// A page of the list is through, and there are more.
        case going
        /// All subscriptions are counted.
        case counted
        /// All prices are raised.
        case done
    }

    let product: Product
    let form: RaiseForm
    let stage: Stage
    /// The mark of the form, which the next step needs.
    let seal: String
    let visitor: Visitor

    /// The path of the page.
    static func path(of id: ProductID) -> String { PlainWords.path(ofProduct: id) + "/raise" }

    var html: HTML {
        PageFrame(title: "Raise subscribers of \(product.id)", visitor: visitor).page(
            """
            \(content)
            <p><a href="\(PlainWords.path(ofProduct: product.id))">The product</a></p>
            """
        )
    }

    private var content: HTML {
        switch stage {
        case .opened: return asking
        case .going:
            let words = form.step == .count ? "Counting" : "Raising"
            return """
                <p class="verdict" role="status">\(words)…</p>\(numbers)
                <p class="dim">Leave this page open. If you close it, begin again: no price is raised twice.</p>
                <form method="post" action="\(Self.path(of: product.id))" data-continues>\(visitor.csrfField)\(hidden)
                <input type="hidden" name="reason" value="\(form.reason)"><button>Go on</button></form>
                """
        case .counted: return confirming
        case .done:
            return """
                <p class="notice" role="status" id="raised">\(form.counts.raised.grouped) subscriptions are raised.</p>
                \(numbers)
                <p>People who subscribed meanwhile are not among them. Do it again for them, with the same time.</p>
                """
        }
    }

    private var asking: HTML {
        let places: [HTML] = product.prices.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "<option value=\"\($0.key)\">\($0.key), now \($0.value)</option>"
        }
        return """
            <section class="card" aria-labelledby="raise"><h2 id="raise">For those who subscribe already</h2>
            <p>They keep the price that they began with until it is raised. The store asks or informs each of them in \
            time before the renewal that costs more. A subscriber who is asked and does not agree is not charged, and \
            the subscription ends. New subscribers pay the price of the product, so raise that first.</p>
            <form class="editor" method="post" action="\(Self.path(of: product.id))">\(visitor.csrfField)
            <label>Storefront <select name="storefront">\(places)</select></label>
            <label>Price of one period <input name="amount" required inputmode="decimal" autocomplete="off"></label>
            <label>From, in UTC, such as 2027-06-30T22:00:00Z; empty for the next renewal in time \
            <input name="from" autocomplete="off" spellcheck="false"></label>
            <button>Count them</button></form></section>
            """
    }

    private var confirming: HTML {
        let count = form.counts.raised
        guard count > 0 else {
            return
                "<p class=\"empty\" role=\"status\">Nobody pays less in \(form.storefront).</p>\(numbers)"
        }
        return """
            <p class="verdict" role="status">\(count.grouped) subscriptions would be raised to \(form.amount) in \
            \(form.storefront).</p>
            \(numbers)
            \(ActDialog.row([confirmation]))
            """
    }

    private var confirmation: ActDialog {
        ActDialog(
            id: "raise",
            words: "Raise them",
            explanation: """
                <p>The store asks or informs each subscriber, by the rules of the country.</p>
                """,
            fields: """
                \(hidden)
                <label for="typed">Type the number of subscriptions, \(form.counts.raised)</label>
                <input id="typed" name="typed" required inputmode="numeric" autocomplete="off">
                """,
            action: Self.path(of: product.id),
            by: visitor
        )
    }

    private var hidden: [HTML] { HTML.hidden(form.fields + [("seal", seal)]) }

    private var numbers: HTML {
        let raised = form.step == .count ? "would be raised" : "raised"
        return """
            <dl class="card facts">
            <div><dt>\(raised)</dt><dd>\(form.counts.raised.grouped)</dd></div>
            <div><dt>others, ended ones among them</dt><dd>\(form.counts.others.grouped)</dd></div>
            <div><dt>wait, because an earlier raise is being charged</dt><dd>\(form.counts.waiting.grouped)</dd></div>
            </dl>
            """
    }
}
