import EventTypes
import StoreAPI

/// A page of buyers' requests for refunds, the oldest first.
///
/// Pure.
struct RefundRequestListPage {
    let found: RefundRequestsResponse
    let query: RefundRequestQuery
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Refund requests", visitor: visitor).page("\(filter)\(rows)\(more)")
    }

    /// The path of a request.
    static func path(of id: TransactionID, _ number: Int) -> String {
        "/refund-requests/\(id)/\(number)"
    }

    private var filter: HTML {
        let options: [HTML] = RefundRequestQuery.choices.map { state, words in
            let selected: HTML = state == query.state ? " selected" : ""
            return "<option value=\"\(state)\"\(selected)>\(words)</option>"
        }
        return """
            <form class="filter" action="/refund-requests">
            <label for="state">Requests</label><select id="state" name="state">\(options)</select>
            <button>Show</button>
            </form>
            """
    }

    private var rows: HTML {
        guard !found.requests.isEmpty else {
            let words =
                query.state == "open"
                ? "Nobody waits for a decision. Buyers ask in the app."
                : "There are no such requests."
            return "<p class=\"empty\" role=\"status\">\(words)</p>"
        }
        return "<ol class=\"rows\">\(found.requests.map(row))</ol>"
    }

    private func row(_ request: RequestedRefund) -> HTML {
        let state = RefundRequestWords.state(of: request)
        return """
            <li class="card row">
            <a href="\(Self.path(of: request.transactionID, request.number))">\(request.productID)</a>
            <span class="tone-\(state.tone.rawValue)">\(state.text)</span>
            <a href="\(PlainWords.path(ofAccount: request.accountID.rawValue))">\(request.accountID)</a>
            <span class="dim">asked \(PlainWords.second(request.requestedAt)): \
            \(RefundRequestWords.words(for: request.reason))</span>
            </li>
            """
    }

    private var more: HTML {
        guard let next = found.next else { return "" }
        let query = PlainWords.query([("state", query.state), ("after", next)])
        return "<p><a href=\"/refund-requests?\(query)\">More</a></p>"
    }
}
