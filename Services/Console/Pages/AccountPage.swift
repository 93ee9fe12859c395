import EventTypes
import OperatorCore

/// An account: what it has, whether it may pay, what it bought, the money, and what holds it back.
///
/// Pure.
struct AccountPage {
    let story: AccountStory
    /// The things that it has; `nil` on a page of older purchases.
    let holdings: AccountHoldings?
    /// The money of the purchases on this page.
    let money: AccountMoney
    let visitor: Visitor
    /// The store's time.
    let now: StoreTime

    var html: HTML {
        PageFrame(title: "Account \(story.accountID)", visitor: visitor).page(
            """
            \(letters)
            \(holdings.map { HoldingsCards(holdings: $0).html })
            <section aria-labelledby="purchases"><h2 id="purchases">Purchases</h2>
            \(purchases)
            </section>
            \(postings)
            <p><a href="/subscriptions?\(PlainWords.query([("account", story.accountID.rawValue)]))">Its subscriptions</a></p>
            """
        )
    }

    private var purchases: HTML {
        guard !story.purchases.isEmpty else {
            return "<p class=\"empty\">It has bought nothing yet.</p>"
        }
        return """
            <ol class="rows">
            \(story.purchases.map(row))
            </ol>
            \(older)
            """
    }

    private var older: HTML {
        guard story.isCut, let last = story.purchases.last else { return "" }
        let path = PlainWords.path(ofAccount: story.accountID.rawValue)
        return "<p><a href=\"\(path)?before=\(last.transactionID)\">Older ones</a></p>"
    }

    private func row(_ purchase: AccountStory.Purchase) -> HTML {
        let tone: NowField.Tone =
            switch purchase.stand.kind {
            case .done: .good
            case .over: .plain
            case .waiting: .warn
            case .late: .bad
            }
        let terms = money.purchases[purchase.transactionID]
        let quantity: HTML? = terms.map { "\($0.quantity) × " }
        return """
            <li class="card row">
            <a href="/purchases/\(purchase.transactionID)">\(quantity)\(purchase.productID)</a>
            \(terms.map(price))
            <span class="tone-\(tone.rawValue)">\(purchase.stand.words)</span>
            <span class="dim">\(terms.map { "\(PlainWords.second($0.time)), " as HTML })\
            transaction \(purchase.transactionID), changed \(Age(of: purchase.changedAt, at: now)) ago</span>
            </li>
            """
    }

    private func price(_ terms: AccountMoney.Purchase) -> HTML {
        let price = terms.price.isZero ? "free" : "\(terms.price)"
        let returned = terms.givenBack.isZero ? "" : ", \(terms.givenBack) given back"
        return "<span>\(price)\(returned)</span>"
    }

    /// The ledger over the purchases on this page, which an account with a million of them can have.
    private var postings: HTML {
        guard !story.purchases.isEmpty else { return "" }
        let table: HTML =
            money.sums.isEmpty
            ? "<p class=\"empty\">No money has moved, so nothing is posted.</p>"
            : PostingsTable.table("All postings of the purchases on this page", money.sums)
        return """
            <section aria-labelledby="money"><h2 id="money">Money</h2>
            \(table)
            </section>
            """
    }

    private var letters: HTML {
        guard !story.deadLetters.isEmpty else { return "" }
        let lines: [HTML] = story.deadLetters.map { letter in
            "<li>\(letter.type) about \(letter.subject) is \(letter.state) in \(letter.service): \(letter.reason)</li>"
        }
        return """
            <section class="card" aria-labelledby="letters">
            <h2 id="letters">What holds the account back</h2>
            <p>A service could not apply something that happened. What came later for this account waits behind it. \
            Somebody with the scope operator can put it right.</p>
            <ul class="problems">\(lines)</ul>
            <p><a href="/dead-letters?\(PlainWords.query([("key", story.accountID.rawValue)]))">Its dead letters</a></p>
            </section>
            """
    }
}
