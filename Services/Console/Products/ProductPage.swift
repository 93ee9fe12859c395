import EventTypes
import OperatorCore
import StoreAPI

/// A product: what it is, its prices and texts, and the form to change them.
///
/// Pure.
struct ProductPage {
    /// The reason why the page is shown.
    enum Occasion: Hashable, Sendable {
        /// It was opened.
        case opened
        /// The product was saved.
        case saved
        /// Something in the form is wrong.
        case wrong([String])
        /// Somebody else has changed the product since the form was opened.
        case changedMeanwhile
    }

    let product: Product
    /// The form as it is to be shown; its texts may be what somebody wrote before.
    let form: ProductForm
    let visitor: Visitor
    var occasion: Occasion = .opened

    private var path: String { PlainWords.path(ofProduct: product.id) }

    var html: HTML {
        PageFrame(title: "Product \(product.id)", visitor: visitor).page(
            """
            \(notice)
            <section class="card" aria-label="The product"><dl class="facts">\(facts)</dl></section>
            \(offers)
            \(visitor.mayAct(as: .merchandiser) ? editor : reading)
            <p><a href="/products">All products</a></p>
            """
        )
    }

    private var notice: HTML {
        switch occasion {
        case .opened: return ""
        case .saved:
            return
                "<p class=\"notice\" role=\"status\">Saved: it is at version \(product.version).</p>"
        case .wrong(let problems):
            let lines: [HTML] = problems.map { "<li>\($0)</li>" }
            return """
                <div class="card" role="alert"><p class="problem">Nothing was saved.</p>
                <ul class="problems">\(lines)</ul></div>
                """
        case .changedMeanwhile:
            let difference = ProductDifference(from: product, to: form.wish(for: product).wish)
            return """
                <div class="card" role="alert">
                <p class="problem">Somebody changed the product meanwhile. Nothing was saved.</p>
                <p>It is at version \(product.version). Your texts are still in the form. This is how they differ from \
                the product now:</p>
                \(ProductChangePage.table(of: difference))
                </div>
                """
        }
    }

    private var facts: [HTML] {
        var lines = [
            ("type", PlainWords.type(product.type)), ("version", "\(product.version)"),
            ("on sale", product.isOnSale ? "yes" : "no"),
            ("restorable", product.isRestorable ? "yes" : "no"),
            ("delivered as", product.deliveryPlan.map(Self.words).joined(separator: ", ")),
        ]
        if let terms = product.subscription {
            lines.append(
                (
                    "subscription",
                    "group \(terms.groupID), level \(terms.level), periods of \(PlainWords.period(terms.period))"
                )
            )
        }
        for (storefront, change) in product.priceChanges.sorted(by: { $0.key < $1.key }) {
            lines.append(
                ("scheduled price in \(storefront)", PlainWords.scheduledPrice(change))
            )
        }
        if !product.entitlements.isEmpty {
            let names = product.entitlements.map(\.rawValue).joined(separator: ", ")
            lines.append(("gives", names))
        }
        return lines.map { "<div><dt>\($0)</dt><dd>\($1)</dd></div>" }
    }

    private var offers: HTML {
        guard product.type == .autoRenewableSubscription else { return "" }
        return """
            <section class="card" aria-labelledby="offers"><h2 id="offers">Offers</h2><dl class="facts">
            <div><dt>introductory</dt><dd>\(product.introductoryOffer == nil ? "none" : "one")</dd></div>
            <div><dt>promotional</dt><dd>\(product.promotionalOffers.count)</dd></div>
            <div><dt>code</dt><dd>\(product.codeOffers.count)</dd></div>
            <div><dt>win-back</dt><dd>\(product.winBackOffers.count)</dd></div>
            </dl><p><a href="\(path)/offers">All of them, with prices</a></p>\(raise)\(extensions)</section>
            """
    }

    private var raise: HTML? {
        guard visitor.mayAct(as: .merchandiser), visitor.maySee(.purchases) else { return nil }
        return
            "<p><a href=\"\(path)/raise\">Raise the price for those who subscribe already</a></p>"
    }

    private var extensions: HTML? {
        guard visitor.maySee(.purchases) else { return nil }
        return "<p><a href=\"\(path)/extensions\">Extend all who subscribe</a></p>"
    }

    private var reading: HTML {
        let prices: [HTML] = product.prices.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "<div><dt>\($0.key)</dt><dd>\($0.value)</dd></div>" }
        let texts: [HTML] = product.localizations.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { language, text in
                """
                <div><dt>\(language)</dt><dd><strong>\(text.title)</strong> \(text.description)</dd></div>
                """
            }
        return """
            <section class="card" aria-labelledby="prices"><h2 id="prices">Prices</h2><dl class="facts">\(prices)</dl></section>
            <section class="card" aria-labelledby="texts"><h2 id="texts">Texts</h2><dl class="facts">\(texts)</dl></section>
            """
    }

    private var editor: HTML {
        let checked: HTML = form.isOnSale ? " checked" : ""
        return """
            <section class="card" aria-labelledby="edit"><h2 id="edit">Change it</h2>
            <form class="editor" method="post" action="\(path)/preview">
            \(visitor.csrfField)<input type="hidden" name="version" value="\(product.version)">
            <label><input type="checkbox" name="sale" value="yes"\(checked)> On sale</label>
            <fieldset><legend>Prices; an empty one ends the sale there</legend>\(priceFields)</fieldset>
            <fieldset><legend>A price in another storefront</legend>
            <label>Storefront <input name="new.storefront" value="\(form.addition.storefront)" autocomplete="off"></label>
            <label>Amount <input name="new.amount" value="\(form.addition.amount)" inputmode="decimal" autocomplete="off"></label>
            <label>Currency <input name="new.currency" value="\(form.addition.currency)" autocomplete="off"></label>
            </fieldset>
            \(creditFields)\(textFields)
            <button>Show the difference</button>
            </form></section>
            """
    }

    private var priceFields: [HTML] {
        product.prices.sorted { $0.key.rawValue < $1.key.rawValue }.map { storefront, price in
            let shown = ProductForm.amount(price)
            let text = form.writtenPrice(in: storefront) ?? shown
            return """
                <input type="hidden" name="was.price.\(storefront)" value="\(shown)">\
                <label>\(storefront), in \(price.currency) <input name="price.\(storefront)" value="\(text)" \
                inputmode="decimal" autocomplete="off"></label>
                """
        }
    }

    private var creditFields: HTML? {
        guard !product.credits.isEmpty else { return nil }
        let fields: [HTML] = product.credits.sorted { $0.key < $1.key }.map { unit, amount in
            """
            <label>\(unit) <input name="credit.\(unit)" value="\(form.credits[unit] ?? "\(amount)")" required \
            inputmode="numeric" autocomplete="off"></label>
            """
        }
        return "<fieldset><legend>Units that one item credits</legend>\(fields)</fieldset>"
    }

    private var textFields: [HTML] {
        product.localizations.sorted { $0.key.rawValue < $1.key.rawValue }.map { language, text in
            let name = language.rawValue
            return """
                <fieldset><legend>Texts in \(language)</legend>
                <label>Title <input name="title.\(language)" value="\(form.titles[name] ?? text.title)" required></label>
                <label>Description <textarea name="description.\(language)" rows="3">\
                \(form.descriptions[name] ?? text.description)</textarea></label>
                </fieldset>
                """
        }
    }

    private static func words(_ target: DeliveryTarget) -> String {
        switch target {
        case .entitlement: "an entitlement"
        case .credit(let unit, let amount): "\(amount) \(unit)"
        case .webhook(let url): "a webhook to \(url)"
        case .app: "by the app"
        case .unknown(let kind): kind
        }
    }
}
