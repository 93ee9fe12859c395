import EventTypes
import OperatorCore

/// All purchases of the store, the newest first.
///
/// Pure.
struct PurchaseListPage {
    let purchases: [ListedPurchase]
    /// Whether there are older ones.
    let isCut: Bool
    let visitor: Visitor
    /// The store's time.
    let now: StoreTime

    var html: HTML {
        PageFrame(title: "Newest purchases", visitor: visitor).page("\(rows)\(older)")
    }

    private var rows: HTML {
        guard !purchases.isEmpty else {
            return "<p class=\"empty\">Nobody has bought anything yet.</p>"
        }
        return "<ol class=\"rows\">\(purchases.map(row))</ol>"
    }

    private func row(_ purchase: ListedPurchase) -> HTML {
        let words = PurchaseWords.state(
            purchase.state,
            isFree: purchase.price.isZero,
            failure: purchase.failureReason
        )
        let tone: NowField.Tone =
            switch purchase.state {
            case .purchased, .restored: .good
            case .purchasing, .deferred: .warn
            case .failed, .unknown: .plain
            }
        let price = purchase.price.isZero ? "free" : "\(purchase.price)"
        let end = purchase.isRevoked ? ", taken away" : ""
        let account = PlainWords.path(ofAccount: purchase.accountID.rawValue)
        return """
            <li class="card row">
            <a href="/purchases/\(purchase.id)">\(purchase.quantity) × \(purchase.productID)</a>
            <span>\(price)</span>
            <span class="tone-\(tone.rawValue)">\(words)\(end)</span>
            <span class="dim">by <a href="\(account)">\(purchase.accountID)</a>, transaction \(purchase.id), \
            \(Age(of: purchase.requestedAt, at: now)) ago</span>
            </li>
            """
    }

    private var older: HTML {
        guard isCut, let last = purchases.last else { return "" }
        return "<p><a href=\"/purchases?before=\(last.id)\">Older ones</a></p>"
    }
}
