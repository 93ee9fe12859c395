import EventTypes
import StoreAPI

/// The form that counts whom a higher price would reach, and the raises of a product so far.
///
/// Pure.
struct RaiseFormPage {
    let product: Product
    /// The raises of the product, the newest first.
    let records: [JobRecord]
    let visitor: Visitor
    /// Whether this console can raise at all.
    let canRaise: Bool

    /// The path of the page.
    static func path(of id: ProductID) -> String { PlainWords.path(ofProduct: id) + "/raise" }

    var html: HTML {
        PageFrame(title: "Raise subscribers of \(product.id)", visitor: visitor).page(
            """
            <section class="card" aria-labelledby="raise"><h2 id="raise">For those who subscribe already</h2>
            <p>They keep the price that they began with until it is raised. The store asks or informs each of them in \
            time before the renewal that costs more. A subscriber who is asked and does not agree is not charged, and \
            the subscription ends. New subscribers pay the price of the product, so raise that first.</p>
            \(form)</section>
            <section aria-labelledby="raises"><h2 id="raises">Raises of this product</h2>
            \(JobPage.list(records) { $0.raise.map(RaisePage.words) ?? "" })
            </section>
            <p><a href="\(PlainWords.path(ofProduct: product.id))">The product</a></p>
            """
        )
    }

    private var form: HTML {
        guard visitor.mayAct(as: .merchandiser) else { return "" }
        guard canRaise else {
            return """
                <p class="problem">No price can be raised here: a raise needs the setting CONSOLE_STATE_DIRECTORY. \
                The command “counterfoil subscriptions raise” raises, too.</p>
                """
        }
        let places: [HTML] = product.prices.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "<option value=\"\($0.key)\">\($0.key), now \($0.value)</option>"
        }
        return """
            <form class="editor" method="post" action="\(Self.path(of: product.id))">\(visitor.csrfField)
            <label>Storefront <select name="storefront">\(places)</select></label>
            <label>Price of one period <input name="amount" required inputmode="decimal" autocomplete="off"></label>
            <label>From, in UTC, such as 2027-06-30T22:00:00Z; empty for the next renewal in time \
            <input name="from" autocomplete="off" spellcheck="false"></label>
            <button>Count them</button></form>
            """
    }
}
