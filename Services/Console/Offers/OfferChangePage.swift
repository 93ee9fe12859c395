import EventTypes
import OperatorCore

/// The difference that a form makes to an offer, before it is saved.
///
/// Pure.
struct OfferChangePage {
    let product: Product
    let form: OfferForm
    let visitor: Visitor

    var html: HTML {
        let path = "\(OfferListPage.path(of: product.id))/\(form.kind.rawValue)"
        let difference = OfferWords.difference(
            from: form.old(in: product),
            to: form.wish(for: product).offer
        )
        let fields = HTML.hidden(form.fields)
        let save: HTML? =
            difference.lines.isEmpty
            ? nil
            : ProductChangePage.saving(to: path, fields, by: visitor)
        return PageFrame(title: "Change an offer of \(product.id)", visitor: visitor).page(
            """
            <section class="card" aria-label="The difference">\(ProductChangePage.table(of: difference))</section>
            <p class="dim">Periods that have begun with the offer keep it as it was.</p>
            <div class="acts">
            \(save)
            <form method="post" action="\(path)/edit">\(visitor.csrfField)\(fields)<button class="quiet">Change it again</button></form>
            </div>
            """
        )
    }
}
