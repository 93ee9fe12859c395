import EventTypes
import OperatorCore

/// The difference that a form makes to a product, before it is saved.
///
/// Pure.
struct ProductChangePage {
    let product: Product
    let form: ProductForm
    let difference: ProductDifference
    let visitor: Visitor

    var html: HTML {
        let path = PlainWords.path(ofProduct: product.id)
        let fields = HTML.hidden(form.fields)
        return PageFrame(title: "Change \(product.id)", visitor: visitor).page(
            """
            <section class="card" aria-label="The difference">\(Self.table(of: difference))</section>
            <p class="dim">Purchases that were accepted at an old price keep it. Subscribers keep the price that they \
            have, unless the new one is lower. A new price ends a scheduled one in its storefront.</p>
            <div class="acts">
            \(save(path, fields))
            <form method="post" action="\(path)/edit">\(visitor.csrfField)\(fields)<button class="quiet">Change it again</button></form>
            </div>
            """
        )
    }

    /// A difference as a table.
    static func table(of difference: ProductDifference) -> HTML {
        guard !difference.lines.isEmpty else {
            return "<p class=\"empty\" role=\"status\">Nothing differs.</p>"
        }
        let rows: [HTML] = difference.lines.map { line in
            """
            <tr><th scope="row">\(line.part)</th><td><del>\(line.old)</del></td><td><ins>\(line.new)</ins></td></tr>
            """
        }
        return """
            <table><caption>What changes</caption>
            <thead><tr><th scope="col">part</th><th scope="col">now</th><th scope="col">then</th></tr></thead>
            <tbody>\(rows)</tbody></table>
            """
    }

    private func save(_ path: String, _ fields: [HTML]) -> HTML {
        guard !difference.lines.isEmpty else { return "" }
        return Self.saving(to: path, fields, by: visitor)
    }

    /// The form that saves a change, with the reason if somebody gives one.
    static func saving(to path: String, _ fields: [HTML], by visitor: Visitor) -> HTML {
        """
        <form class="editor" method="post" action="\(path)">\(visitor.csrfField)\(fields)
        <label>Reason (optional); it stays in the books with your name \
        <input name="reason" maxlength="500" autocomplete="off"></label>
        <button>Save</button></form>
        """
    }
}
