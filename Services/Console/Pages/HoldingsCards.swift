import EventTypes
import OperatorCore

/// The things that an account has now, its balances, and whether it may pay.
///
/// Pure.
struct HoldingsCards {
    let holdings: AccountHoldings

    var html: HTML {
        """
        <div class="cards">
        \(card("owned", "Has now", owned))
        \(card("balances", "Balances", balances))
        \(card("payments", "May pay", payments))
        \(holdings.intents.isEmpty ? "" : card("intents", "Waits for the app", intents))
        </div>
        """
    }

    private func card(_ id: String, _ title: String, _ body: HTML) -> HTML {
        """
        <section class="card" aria-labelledby="\(id)"><h2 id="\(id)">\(title)</h2>
        \(body)
        </section>
        """
    }

    private var owned: HTML {
        guard !holdings.owned.isEmpty || holdings.isOwnedCut else {
            return
                "<p class=\"empty\">It owns nothing, and none of its subscriptions is running.</p>"
        }
        let facts: [HTML] = holdings.owned.map { owned in
            """
            <div><dt>\(owned.productID)</dt><dd>\(Self.words(for: owned)), \
            <a href="/purchases/\(owned.originalID)">purchase \(owned.originalID)</a></dd></div>
            """
        }
        return "<dl class=\"facts\">\(facts)</dl>\(more(holdings.isOwnedCut))"
    }

    private func more(_ isCut: Bool) -> HTML {
        isCut ? "<p class=\"dim\">There are more.</p>" : ""
    }

    /// Until when a product is owned, in words.
    private static func words(for owned: AccountHoldings.Owned) -> String {
        guard let end = owned.endsAt else { return "without end" }
        let words = "until \(PlainWords.second(end))"
        return switch owned.isRenewing {
        case true?: words + ", then it renews"
        case false?: words + ", and no longer"
        case nil: words
        }
    }

    private var balances: HTML {
        guard !holdings.balances.isEmpty else {
            return "<p class=\"empty\">No purchase has credited anything.</p>"
        }
        let facts: [HTML] = holdings.balances.map { balance in
            """
            <div><dt>\(balance.unit)</dt><dd>\(Int(balance.amount).grouped) \
            <span class="dim">in \(balance.bundleID)</span></dd></div>
            """
        }
        return "<dl class=\"facts\">\(facts)</dl>\(more(holdings.isBalancesCut))"
    }

    /// The purchases that the buyer has begun outside the app; few accounts have any.
    private var intents: HTML {
        let facts: [HTML] = holdings.intents.map { intent in
            """
            <div><dt>\(intent.quantity) × \(intent.productID)</dt><dd>since \(PlainWords.second(intent.createdAt)) \
            <span class="dim">in \(intent.bundleID)</span></dd></div>
            """
        }
        return """
            <dl class="facts">\(facts)</dl>
            <p class="dim">The buyer has begun these outside the app. Nothing is charged before the app goes on with them.</p>
            """
    }

    private var payments: HTML {
        guard !holdings.standings.isEmpty else {
            return """
                <p>Yes, in the storefront that the app names.</p>
                <p class="dim">Nobody has set anything else, and it is in no family.</p>
                """
        }
        let parts: [HTML] = holdings.standings.map { standing in
            """
            <dl class="facts">
            <div><dt>app</dt><dd>\(standing.bundleID)</dd></div>
            <div><dt>may pay</dt><dd>\(Self.permission(of: standing))</dd></div>
            <div><dt>storefront</dt><dd>\(standing.storefront?.rawValue ?? "the one that the app names")</dd></div>
            <div><dt>family</dt><dd>\(Self.family(of: standing))</dd></div>
            </dl>
            """
        }
        return HTML(parts)
    }

    private static func permission(of standing: AccountHoldings.Standing) -> HTML {
        standing.canMakePayments
            ? "<span class=\"tone-good\">yes</span>"
            : "<span class=\"tone-warn\">no, somebody has forbidden it</span>"
    }

    private static func family(of standing: AccountHoldings.Standing) -> HTML {
        guard let family = standing.family else { return "none" }
        let path = PlainWords.path(ofAccount: family.organizer.rawValue)
        let count = family.members.count
        return """
            \(count) \(count == 1 ? "member" : "members"), organized by \
            <a href="\(path)">\(family.organizer)</a>
            """
    }
}
