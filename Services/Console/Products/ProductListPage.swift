import EventTypes
import OperatorCore

/// A page of products, in the order of their ids.
///
/// Pure.
struct ProductListPage {
    let products: [Product]
    /// Whether there are more.
    let isCut: Bool
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Products", visitor: visitor).page("\(rows)\(more)")
    }

    private var rows: HTML {
        guard !products.isEmpty else {
            return """
                <p class="empty" role="status">There are no products here. The command line imports a catalog: \
                counterfoil products import.</p>
                """
        }
        return "<ol class=\"rows\">\(products.map(row))</ol>"
    }

    private func row(_ product: Product) -> HTML {
        let prices = product.prices.sorted { $0.key.rawValue < $1.key.rawValue }
        let shown = prices.prefix(3).map { "\($0.value) in \($0.key)" }.joined(separator: ", ")
        let more = prices.count > 3 ? " and \(prices.count - 3) more" : ""
        let offer = product.introductoryOffer == nil ? "" : ", with an introductory offer"
        return """
            <li class="card row">
            <a href="\(PlainWords.path(ofProduct: product.id))">\(product.id)</a>
            <span class="tone-\(product.isOnSale ? "good" : "warn")">\(product.isOnSale ? "on sale" : "off sale")</span>
            <span class="dim">\(PlainWords.type(product.type)), \(shown.isEmpty ? "no price" : shown + more)\(offer)</span>
            </li>
            """
    }

    private var more: HTML {
        guard isCut, let last = products.last else { return "" }
        return
            "<p><a href=\"/products?\(PlainWords.query([("after", last.id.rawValue)]))\">More</a></p>"
    }
}
