import EventTypes
import StoreAPI

/// A page of the purchases that wait for an approval, those that wait longest first.
///
/// Pure. Each is decided on the page of its purchase.
struct ApprovalListPage {
    let found: DeferredResponse
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Approvals", visitor: visitor).page("\(rows)\(more)")
    }

    private var rows: HTML {
        guard !found.transactions.isEmpty else {
            return """
                <p class="empty" role="status">Nothing waits for an approval. Purchases of children wait here, as with \
                Ask to Buy.</p>
                """
        }
        return "<ol class=\"rows\">\(found.transactions.map(row))</ol>"
    }

    private func row(_ purchase: DeferredTransaction) -> HTML {
        """
        <li class="card row">
        <a href="/purchases/\(purchase.transactionID)">\(purchase.quantity) × \(purchase.productID)</a>
        <span>\(purchase.price)</span>
        <a href="\(PlainWords.path(ofAccount: purchase.accountID.rawValue))">\(purchase.accountID)</a>
        <span class="dim">has waited since \(PlainWords.second(purchase.since))</span>
        </li>
        """
    }

    private var more: HTML {
        guard let next = found.next else { return "" }
        return "<p><a href=\"/approvals?\(PlainWords.query([("after", next)]))\">More</a></p>"
    }
}
