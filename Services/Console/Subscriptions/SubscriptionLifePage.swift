import EventTypes
import OperatorCore
import StoreAPI

/// A subscription: what runs, what comes next, and its life so far.
///
/// Pure.
struct SubscriptionLifePage {
    let listed: ListedSubscription
    /// The story of its first transaction.
    let story: Story
    let visitor: Visitor
    /// The key under which a renewal of this page is charged once.
    let key: String
    /// The act that was just done; `nil` if the page was opened otherwise.
    var done: SubscriptionAct?

    private var subscription: Subscription { listed.subscription }

    var html: HTML {
        PageFrame(
            title: "Subscription of \(subscription.product.id)",
            visitor: visitor,
            live: "/subscriptions/\(subscription.id)/live",
            stamp: Self.stamp(of: listed)
        ).page(
            """
            \(notice)
            <section class="card" aria-label="The subscription">\(head)</section>
            \(ActDialog.row(dialogs))
            <section aria-labelledby="life"><h2 id="life">Its life</h2>\(life)</section>
            """
        )
    }

    /// A text that differs when the subscription has gone on.
    static func stamp(of listed: ListedSubscription) -> String {
        let subscription = listed.subscription
        return "\(subscription.version)-\(subscription.attempts)-\(subscription.charge != nil)"
    }

    /// Whether choosing the running product again charges for the period that is owed.
    ///
    /// Otherwise it may withdraw another choice, or turn renewal on.
    static func canChargeOwed(_ subscription: Subscription) -> Bool {
        subscription.state == .inBillingRetryPeriod && subscription.isAutoRenewOn
            && subscription.charge == nil && subscription.pendingProduct == nil
    }

    private var notice: HTML {
        let words: String? =
            switch done {
            case .cancel: "Its renewal is off. What is paid stays until its end."
            case .resume: "Its renewal is on again."
            case .extend: "It is extended. Its period ends later."
            case .charge, .retry, .renew:
                "A charge was begun. Its life, below, shows what became of it."
            case nil: nil
            }
        return words.map { "<p class=\"notice\" role=\"status\">\($0)</p>" } ?? ""
    }

    private var head: HTML {
        let facts = SubscriptionFacts(listed)
        let lines: [HTML] = facts.lines.map {
            "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>"
        }
        let state = SubscriptionListPage.words(for: subscription.state)
        return """
            <p>\(SubscriptionWords.present(subscription))</p>
            <dl class="facts">
            <div><dt>state</dt><dd id="state" class="tone-\(facts.tone.rawValue)">\(state)</dd></div>
            <div><dt>product</dt><dd>\(product)</dd></div>
            <div><dt>account</dt><dd><a href="\(PlainWords.path(ofAccount: subscription.accountID.rawValue))">\
            \(subscription.accountID)</a></dd></div>
            <div><dt>first purchase</dt><dd><a href="/purchases/\(subscription.id)">\(subscription.id)</a></dd></div>
            <div><dt>newest purchase</dt><dd><a href="/purchases/\(subscription.period.transactionID)">\
            \(subscription.period.transactionID)</a></dd></div>
            \(lines)
            </dl>
            <p><a href="\(MassExtensionListPage.path(of: subscription.product.id))">Extensions of all subscribers of \
            \(subscription.product.id)</a></p>
            """
    }

    private var product: HTML {
        let id = subscription.product.id
        guard visitor.maySee(.products) else { return "\(id)" }
        return "<a href=\"\(PlainWords.path(ofProduct: id))\">\(id)</a>"
    }

    private var life: HTML {
        let steps = story.steps.filter { $0.kind == "subscription" }
        guard !steps.isEmpty else {
            return
                "<p class=\"empty\">What happened to it is in the archive, and no longer here.</p>"
        }
        return Timeline(steps: steps).html
    }

    private var dialogs: [ActDialog] {
        guard visitor.mayAct(as: .support) else { return [] }
        var dialogs: [ActDialog] = []
        if subscription.state.isRunning {
            dialogs.append(autoRenewDialog)
        }
        if Self.canChargeOwed(subscription) { dialogs.append(owedDialog) }
        if subscription.state == .active { dialogs.append(extendDialog) }
        if visitor.session.isSandbox, subscription.isAutoRenewOn, subscription.charge == nil {
            switch subscription.state {
            case .inGracePeriod, .inBillingRetryPeriod: dialogs.append(chargeDialog(.retry))
            case .active: dialogs.append(chargeDialog(.renew))
            case .expired, .revoked, .unknown: break
            }
        }
        return dialogs
    }

    private var autoRenewDialog: ActDialog {
        let isOn = subscription.isAutoRenewOn
        let act: SubscriptionAct = isOn ? .cancel : .resume
        let effect: HTML
        switch (isOn, subscription.state) {
        case (true, .active):
            effect = "keeps the service until \(PlainWords.second(subscription.period.end))"
        case (true, _): effect = "loses the subscription at once, because it is not paid"
        case (false, _):
            effect = "is charged again at \(PlainWords.second(subscription.period.end))"
        }
        return ActDialog(
            id: act.rawValue,
            words: isOn ? "Turn renewal off" : "Turn renewal on",
            explanation: "<p><strong>\(subscription.accountID)</strong> \(effect).</p>",
            fields: "<input type=\"hidden\" name=\"act\" value=\"\(act.rawValue)\">",
            action: "/subscriptions/\(subscription.id)/act",
            by: visitor
        )
    }

    private var owedDialog: ActDialog {
        ActDialog(
            id: SubscriptionAct.charge.rawValue,
            words: "Charge again now",
            explanation: """
                <p><strong>\(subscription.accountID)</strong> is charged for the period that is owed, by the method that \
                was declined. If it is paid, a period begins now. Otherwise the next try is made when it was due.</p>
                """,
            fields: """
                <input type="hidden" name="act" value="\(SubscriptionAct.charge.rawValue)">\
                <input type="hidden" name="stamp" value="\(Self.stamp(of: listed))">
                """,
            action: "/subscriptions/\(subscription.id)/act",
            by: visitor
        )
    }

    private var extendDialog: ActDialog {
        let charge: HTML =
            subscription.isAutoRenewOn ? "The next charge moves along." : "It does not renew."
        return ActDialog(
            id: SubscriptionAct.extend.rawValue,
            words: "Extend",
            explanation: """
                <p>The period of <strong>\(subscription.accountID)</strong> ends at \
                \(PlainWords.second(subscription.period.end)). It ends later, by days that nobody pays. \(charge)</p>
                <p class="dim">A subscription is extended at most twice within 365 days, and not while it is free.</p>
                """,
            fields: """
                <input type="hidden" name="act" value="\(SubscriptionAct.extend.rawValue)">\
                <input type="hidden" name="version" value="\(subscription.version)">
                \(ExtensionFields.html(in: "extend"))
                """,
            action: "/subscriptions/\(subscription.id)/act",
            by: visitor
        )
    }

    private func chargeDialog(_ act: SubscriptionAct) -> ActDialog {
        let effect: HTML =
            act == .retry
            ? "pays now what is owed, with a method that succeeds"
            : "is charged now for the next period"
        return ActDialog(
            id: act.rawValue,
            words: act == .retry ? "Pay what is owed, as a test" : "Renew now",
            explanation: """
                <p><strong>\(subscription.accountID)</strong> \(effect).</p>
                <p class="dim">Only a sandbox can do this. It is a test, so the books keep no reason for it.</p>
                """,
            fields: """
                <input type="hidden" name="act" value="\(act.rawValue)">\
                <input type="hidden" name="key" value="\(key)">
                """,
            action: "/subscriptions/\(subscription.id)/act",
            by: visitor,
            asksReason: false
        )
    }
}
