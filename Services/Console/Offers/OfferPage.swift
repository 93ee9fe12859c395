import EventTypes
import OperatorCore

/// The form that changes, makes or removes an offer.
///
/// Pure.
struct OfferPage {
    let product: Product
    /// The form as it is to be shown; its texts may be what somebody wrote before.
    let form: OfferForm
    let visitor: Visitor
    var occasion: ProductPage.Occasion = .opened

    private var isNew: Bool { form.old(in: product) == nil }

    var html: HTML {
        let name = form.kind == .introductory ? "introductory offer" : "offer \(form.id)"
        let title = isNew ? "A new offer of \(product.id)" : "\(name) of \(product.id)"
        return PageFrame(title: title, visitor: visitor).page(
            """
            \(notice)
            <section class="card" aria-label="The offer">
            <p class="dim">\(form.kind.title). \(form.kind.words)</p>
            <form class="editor" method="post" action="\(action)/preview">
            \(visitor.csrfField)<input type="hidden" name="version" value="\(product.version)">
            \(idField)\(switches)
            <label>How it is paid <select name="mode">\(modes)</select></label>
            <label>Length of a period, such as P1W, P1M or P1Y <input name="period" value="\(form.period)" required autocomplete="off"></label>
            <label>Number of periods; 1 if the offer is free or paid once <input name="periods" value="\(form.periods)" required inputmode="numeric" autocomplete="off"></label>
            <fieldset><legend>Prices; 0 if it is free, empty where there is no offer</legend>\(prices)</fieldset>
            \(removal)
            <button>Show the difference</button>
            </form></section>
            <p><a href="\(OfferListPage.path(of: product.id))">All offers of the product</a></p>
            """
        )
    }

    private var action: String { "\(OfferListPage.path(of: product.id))/\(form.kind.rawValue)" }

    private var notice: HTML {
        switch occasion {
        case .opened, .saved: return ""
        case .wrong(let problems):
            let lines: [HTML] = problems.map { "<li>\($0)</li>" }
            return """
                <div class="card" role="alert"><p class="problem">Nothing was saved.</p>
                <ul class="problems">\(lines)</ul></div>
                """
        case .changedMeanwhile:
            let difference = OfferWords.difference(
                from: form.old(in: product),
                to: form.wish(for: product).offer
            )
            return """
                <div class="card" role="alert">
                <p class="problem">Somebody changed the product meanwhile. Nothing was saved.</p>
                <p>It is at version \(product.version). What you wrote is still in the form. This is how it differs from \
                the offer now:</p>
                \(ProductChangePage.table(of: difference))
                </div>
                """
        }
    }

    private var idField: HTML {
        guard form.kind != .introductory else { return "" }
        guard isNew else { return "<input type=\"hidden\" name=\"id\" value=\"\(form.id)\">" }
        return """
            <label>Its id, which cannot be changed later <input name="id" value="\(form.id)" required autocomplete="off" spellcheck="false"></label>
            """
    }

    private var switches: HTML {
        guard form.kind != .introductory else { return "" }
        let active = box("active", "It is active: accounts can get it", isOn: form.isActive)
        if form.kind == .winBack { return "\(active)\(conditions)" }
        guard form.kind == .code else { return active }
        let customers: [HTML] = CustomerKind.all.map {
            box(
                "customers.\($0.rawValue)",
                OfferWords.words(for: $0),
                isOn: form.customers.contains($0.rawValue)
            )
        }
        return """
            \(active)
            <fieldset><legend>Who may redeem a code</legend>\(customers)</fieldset>
            \(box("stackable", "An account that may have the introductory offer gets that first", isOn: form.isStackable))
            """
    }

    private var conditions: HTML {
        let fields = form.winBack
        let lines: [(name: String, words: String, value: String)] = [
            ("paid", "Months that the account has paid for, at least", fields.paid),
            ("since", "Months since the end of its subscription, at least", fields.since),
            ("sinceMax", "Months since the end, at most; empty for any number", fields.sinceMax),
            (
                "wait", "Months since its last win-back offer, at least; empty for any number",
                fields.wait
            ),
        ]
        let inputs: [HTML] = lines.map {
            """
            <label>\($0.words) <input name="\($0.name)" value="\($0.value)" inputmode="numeric" \
            autocomplete="off"></label>
            """
        }
        return """
            <fieldset><legend>Who may have it</legend>\(inputs)</fieldset>
            \(box("high", "High priority: it comes before offers without it", isOn: fields.isHigh))
            """
    }

    private var modes: [HTML] {
        OfferWords.modes.map { mode, words in
            let selected: HTML = mode.rawValue == form.mode ? " selected" : ""
            return "<option value=\"\(mode.rawValue)\"\(selected)>\(words)</option>"
        }
    }

    private var prices: [HTML] {
        product.prices.sorted { $0.key.rawValue < $1.key.rawValue }.map { storefront, price in
            """
            <label>\(storefront), in \(price.currency); ordinarily \(price) <input name="price.\(storefront)" \
            value="\(form.prices[storefront.rawValue] ?? "")" inputmode="decimal" autocomplete="off"></label>
            """
        }
    }

    private var removal: HTML {
        guard !isNew else { return "" }
        return box("removed", "Remove the offer; whoever has it keeps it", isOn: form.isRemoved)
    }

    private func box(_ name: String, _ words: String, isOn: Bool) -> HTML {
        let checked: HTML = isOn ? " checked" : ""
        return
            "<label><input type=\"checkbox\" name=\"\(name)\" value=\"yes\"\(checked)> \(words)</label>"
    }
}
