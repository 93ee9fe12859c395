/// The page of a search that found nothing, or that looks for nothing yet.
///
/// Pure.
struct SearchPage {
    /// The text that was looked for, without spaces around it.
    let query: String
    /// The things that were looked for, in words; empty if the text can be nothing that the store has.
    let lookedFor: [String]
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Search", visitor: visitor, query: query).page(words)
    }

    private var words: HTML {
        if query.isEmpty {
            return """
                <p class="empty">Paste the id of a transaction, an order, an account, a product, a campaign of codes, a family, an event, \
                a webhook, a notification, a dispute, a charge or a refund at the processor, a replay, a proof, a reconciliation or a \
                raise, a custom code, a trace, or a dead letter, as in receipts 12. A receipt shows the order.</p>
                """
        }
        if lookedFor.isEmpty {
            return """
                <p class="empty" role="status">“\(query)” is neither a transaction, nor an order, nor an account, \
                nor the id of anything else: these have no spaces inside, and an account has at most 128 characters.</p>
                """
        }
        let lines: [HTML] = lookedFor.map { "<li>\($0)</li>" }
        return """
            <div role="status"><p>Nothing was found. The store was asked for</p>
            <ul>\(lines)</ul>
            <p class="dim">An account has a page once it has bought something, has begun a purchase outside the app, or is in a \
            family. So has one for which somebody has set whether it may pay.</p></div>
            """
    }
}
