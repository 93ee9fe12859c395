import EventTypes
import OperatorCore

/// A page of subscriptions, the newest first.
///
/// Pure.
struct SubscriptionListPage {
    /// The states that can be chosen, with the words for them.
    static let states: [(state: SubscriptionState, words: String)] = [
        (.active, "paid"), (.inGracePeriod, "unpaid, in grace"),
        (.inBillingRetryPeriod, "unpaid, without service"), (.expired, "lapsed"),
        (.revoked, "taken away"),
    ]

    let listing: SubscriptionListing
    let query: SubscriptionPageQuery
    let visitor: Visitor

    var html: HTML {
        PageFrame(title: "Subscriptions", visitor: visitor).page("\(filter)\(rows)\(older)")
    }

    /// The words for a state.
    static func words(for state: SubscriptionState) -> String {
        states.first { $0.state == state }?.words ?? state.rawValue
    }

    private var filter: HTML {
        let options: [HTML] = Self.states.map { state, words in
            let selected: HTML = state == query.state ? " selected" : ""
            return "<option value=\"\(state.rawValue)\"\(selected)>\(words)</option>"
        }
        return """
            <form class="filter" action="/subscriptions">
            <label for="account">Account</label>
            <input id="account" name="account" value="\(query.account?.rawValue ?? "")" autocomplete="off" spellcheck="false">
            <label for="state">State</label>
            <select id="state" name="state"><option value="">all</option>\(options)</select>
            <button>Show</button>
            </form>
            """
    }

    private var rows: HTML {
        guard !listing.subscriptions.isEmpty else {
            let words =
                listing.next == nil
                ? "There are no such subscriptions. One begins when somebody buys a product that renews."
                : "None of the 10,000 subscriptions that were looked at is in this state. There are older ones."
            return "<p class=\"empty\" role=\"status\">\(words)</p>"
        }
        return "<ol class=\"rows\">\(listing.subscriptions.map(row))</ol>"
    }

    private func row(_ listed: ListedSubscription) -> HTML {
        let subscription = listed.subscription
        let facts = SubscriptionFacts(listed)
        return """
            <li class="card row">
            <a href="/subscriptions/\(subscription.id)">\(subscription.product.id)</a>
            <span class="tone-\(facts.tone.rawValue)">\(Self.words(for: subscription.state))</span>
            <a href="\(PlainWords.path(ofAccount: subscription.accountID.rawValue))">\(subscription.accountID)</a>
            <span class="dim">period until \(PlainWords.second(subscription.period.end)); next: \(facts.next)</span>
            </li>
            """
    }

    private var older: HTML {
        guard let next = listing.next else { return "" }
        var fields = [("before", next.rawValue)]
        if let account = query.account { fields.append(("account", account.rawValue)) }
        if let state = query.state { fields.append(("state", state.rawValue)) }
        return "<p><a href=\"/subscriptions?\(PlainWords.query(fields))\">Older ones</a></p>"
    }
}
