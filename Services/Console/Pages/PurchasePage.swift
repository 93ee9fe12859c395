import EventTypes
import OperatorCore
import StoreAPI

/// A purchase: what it is, what is left to do, the money, and everything that happened.
///
/// Pure.
struct PurchasePage {
    let story: Story
    let visitor: Visitor
    /// A new random key, under which a refund is made once.
    let key: String
    /// The refund that has no answer, which is repeated under its own key; `nil` if there is none.
    var lost: SentRefund?
    /// The act that was just done; `nil` if the page was opened otherwise.
    var done: Act?

    /// The acts that a page can ask for.
    enum Act: String, CaseIterable, Sendable { case refund, approve, decline, resend, resume }

    var html: HTML {
        PageFrame(
            title: "\(story.quantity) × \(story.productID)",
            visitor: visitor,
            live: "/purchases/\(story.transactionID)/live",
            stamp: Self.stamp(of: story)
        ).page(
            """
            \(notice)
            <section class="card" aria-label="The purchase">\(head)</section>
            <section aria-labelledby="left"><h2 id="left">What is left to do</h2>\(left)\(asked)\(acts)</section>
            <section aria-labelledby="money"><h2 id="money">Money</h2>\(PostingsTable(postings: story.postings).html)</section>
            <section aria-labelledby="story"><h2 id="story">What happened</h2>\(steps)</section>
            \(receipt)
            """
        )
    }

    /// A text that differs when the story has gone on.
    static func stamp(of story: Story) -> String {
        "\(story.state)-\(story.steps.count)-\(story.waitsFor.count)"
    }

    private var notice: HTML {
        switch done {
        case .refund:
            "<p class=\"notice\" role=\"status\">A refund was asked for. What happened, below, shows when the money is back.</p>"
        case .approve:
            "<p class=\"notice\" role=\"status\">The decision is written: approved. The state below says what became of it.</p>"
        case .decline:
            "<p class=\"notice\" role=\"status\">The decision is written: declined. The state below says what became of it.</p>"
        case .resend:
            "<p class=\"notice\" role=\"status\">Its webhooks are sent again, each under its own id.</p>"
        case .resume:
            "<p class=\"notice\" role=\"status\">A new purchase goes on from it. What happened, below, names it.</p>"
        case nil where lost != nil && canBeRefunded:
            """
            <p class="problem" role="status">No answer came to the last refund. It may have been made. Repeat it: \
            the store makes it once. Until the store has answered, no other refund can be requested here.</p>
            """
        case nil: ""
        }
    }

    private var head: HTML {
        let order: HTML = story.orderID.map { "<div><dt>order</dt><dd>\($0)</dd></div>" } ?? ""
        let givenBack = PurchaseWords.givenBack(of: story)
        let returned: HTML? =
            givenBack.isZero ? nil : "<div><dt>given back so far</dt><dd>\(givenBack)</dd></div>"
        return """
            <dl class="facts">
            <div><dt>state</dt><dd id="state">\(PurchaseWords.state(of: story))</dd></div>
            <div><dt>product</dt><dd>\(product)</dd></div>
            <div><dt>price</dt><dd>\(story.price) in \(story.storefront)</dd></div>
            \(returned)
            <div><dt>account</dt><dd><a href="\(PlainWords.path(ofAccount: story.accountID.rawValue))">\(story.accountID)</a></dd></div>
            \(order)
            <div><dt>transaction</dt><dd>\(story.transactionID)</dd></div>
            <div><dt>app</dt><dd>\(story.bundleID)</dd></div>
            \(story.subscriptionID.map { "<div><dt>subscription</dt><dd><a href=\"/subscriptions/\($0)\">\($0)</a></dd></div>" as HTML })
            </dl>
            \(story.subscription.map { "<p>\(PlainWords.withoutCommands($0))</p>" as HTML })
            """
    }

    private var product: HTML {
        guard visitor.maySee(.products) else { return "\(story.productID)" }
        return "<a href=\"\(PlainWords.path(ofProduct: story.productID))\">\(story.productID)</a>"
    }

    private var left: HTML {
        guard !story.waitsFor.isEmpty else {
            return "<p class=\"tone-good\">Nothing is left to do.</p>"
        }
        let lines: [HTML] = story.waitsFor.map { "<li>\(PlainWords.withoutCommands($0))</li>" }
        return "<ul class=\"problems\">\(lines)</ul>"
    }

    /// Whether a refund can be asked for: something was paid and not all given back, and the buyer
    /// still has the purchase.
    var canBeRefunded: Bool {
        story.state == .purchased && story.revokedAt == nil
            && PurchaseWords.givenBack(of: story).minorUnits < story.price.minorUnits
    }

    /// The way to the buyer's request, whose approval can be repeated safely; a refund here cannot
    /// stand for it.
    private var asked: HTML {
        guard canBeRefunded, visitor.mayAct(as: .support), let request = story.refundRequest else {
            return ""
        }
        let link: HTML =
            "<a href=\"/refund-requests/\(request.transactionID)/\(request.number)\">that request</a>"
        switch request.state {
        case .open:
            return
                "<p id=\"asked\">The buyer has asked for a refund. Decide \(link) on its own page, and not here.</p>"
        case .approved:
            return """
                <p id="asked">The buyer asked for a refund, and it was approved. If the answer to the approval was lost, \
                approve \(link) again, which is safe. A refund from this page is another one.</p>
                """
        case .declined, .unknown: return ""
        }
    }

    private var acts: HTML {
        guard visitor.mayAct(as: .support) else { return "" }
        var dialogs: [ActDialog] = []
        if canBeRefunded, let order = story.orderID {
            dialogs.append(
                lost.map { ActDialog.repeatedRefund($0, of: story, order: order, by: visitor) }
                    ?? .refund(of: story, order: order, key: key, by: visitor)
            )
        }
        if story.state == .deferred {
            dialogs.append(.approval(of: story, isApproved: true, by: visitor))
            dialogs.append(.approval(of: story, isApproved: false, by: visitor))
        }
        if story.failureReason == FailureReason.interrupted.rawValue, visitor.session.isSandbox {
            dialogs.append(.resumption(of: story, by: visitor))
        }
        if story.steps.contains(where: { $0.kind == "webhook" }) {
            dialogs.append(.webhooks(of: story, by: visitor))
        }
        return ActDialog.row(dialogs)
    }

    /// The way to the receipt, once there is one.
    private var receipt: HTML {
        guard visitor.maySee(.receipts), story.steps.contains(where: { $0.kind == "receipt" })
        else { return "" }
        return "<p><a href=\"/purchases/\(story.transactionID)/receipt\">Its receipt</a></p>"
    }

    private var steps: HTML { Timeline(steps: story.steps).html }
}
