import EventTypes
import OperatorCore
import StoreAPI

/// A dialog that says what an act does and asks for the reason, with the button that opens it.
///
/// Pure.
struct ActDialog {
    private let id: String
    private let words: String
    private let explanation: HTML
    private let fields: HTML
    private let action: String
    private let csrfField: HTML
    private let asksReason: Bool

    /// Makes a dialog.
    ///
    /// - Parameters:
    ///   - id: The id of its element.
    ///   - words: The name of the act, on the buttons.
    ///   - explanation: The effect of the act.
    ///   - fields: The fields of the form besides the reason.
    ///   - action: The path that the form is sent to.
    ///   - visitor: The administrator.
    ///   - asksReason: Whether the books keep a reason.
    init(
        id: String,
        words: String,
        explanation: HTML,
        fields: HTML = "",
        action: String,
        by visitor: Visitor,
        asksReason: Bool = true
    ) {
        self.id = id
        self.words = words
        self.explanation = explanation
        self.fields = fields
        self.action = action
        csrfField = visitor.csrfField
        self.asksReason = asksReason
    }

    /// The dialog of a refund.
    static func refund(
        of story: Story,
        order: OrderID,
        key: String,
        by visitor: Visitor
    ) -> ActDialog {
        let givenBack = PurchaseWords.givenBack(of: story)
        let earlier: HTML? = givenBack.isZero ? nil : " (\(givenBack) was given back already)"
        return ActDialog(
            id: "refund",
            words: "Refund",
            explanation: """
                <p><strong>\(story.accountID)</strong> gets back what is left of <strong>\(story.price)</strong>\(earlier) for \
                \(story.quantity) × \(story.productID), and loses it. With an amount, the \
                account gets back that amount and keeps the product.</p>
                """,
            fields: """
                <input type="hidden" name="key" value="\(key)">
                \(refundFields(in: "refund", of: order, in: story.price.currency))
                """,
            action: "/purchases/\(story.transactionID)/refund",
            by: visitor
        )
    }

    /// The dialog that sends a refund again as it was, because no answer came.
    static func repeatedRefund(
        _ refund: SentRefund,
        of story: Story,
        order: OrderID,
        by visitor: Visitor
    ) -> ActDialog {
        let amount = refund.request.amount.map { "\($0)" } ?? "all that is left"
        let reason: HTML? = refund.request.reason.map { ", “\($0)”" }
        let effect: HTML? = refund.request.revokes.map {
            $0 ? ", which takes the product away" : ", which leaves the product"
        }
        return ActDialog(
            id: "refund",
            words: "Repeat the refund",
            explanation: """
                <p>The refund of <strong>\(amount)</strong>\(reason)\(effect) is sent to \
                <strong>\(story.accountID)</strong> again, as it was. It is made once.</p>
                """,
            fields: """
                <input type="hidden" name="key" value="\(refund.key)"><input type="hidden" name="repeat" value="true">
                \(orderField(in: "refund", order))
                """,
            action: "/purchases/\(story.transactionID)/refund",
            by: visitor,
            asksReason: false
        )
    }

    /// The field by which somebody shows that the right purchase is refunded.
    private static func orderField(in dialog: String, _ order: OrderID) -> HTML {
        """
        <label for="\(dialog)-order">Type the order id, \(order)</label>
        <input id="\(dialog)-order" name="order" required autocomplete="off" spellcheck="false">
        """
    }

    /// The fields by which a dialog refunds: the order, the amount, and whether the product stays.
    static func refundFields(
        in dialog: String,
        of order: OrderID,
        in currency: Currency
    ) -> HTML {
        """
        \(orderField(in: dialog, order))
        <label for="\(dialog)-amount">Amount in \(currency); empty for all that is left</label>
        <input id="\(dialog)-amount" name="amount" inputmode="decimal" autocomplete="off">
        <label for="\(dialog)-effect">The product</label>
        <select id="\(dialog)-effect" name="effect"><option value="">as described above</option>\
        <option value="revoke">is taken away</option><option value="keep">stays</option></select>
        """
    }

    /// The dialog of an approver's decision.
    static func approval(of story: Story, isApproved: Bool, by visitor: Visitor) -> ActDialog {
        let name = isApproved ? "approve" : "decline"
        let effect: HTML =
            isApproved
            ? "is charged <strong>\(story.price)</strong> for" : "is not charged and does not get"
        return ActDialog(
            id: name,
            words: isApproved ? "Approve" : "Decline",
            explanation: """
                <p><strong>\(story.accountID)</strong> \(effect) \(story.quantity) × \(story.productID).</p>
                """,
            fields: "<input type=\"hidden\" name=\"decision\" value=\"\(name)\">",
            action: "/purchases/\(story.transactionID)/approval",
            by: visitor
        )
    }

    /// The dialog that sends the webhooks of a purchase again.
    static func webhooks(of story: Story, by visitor: Visitor) -> ActDialog {
        ActDialog(
            id: "resend",
            words: "Send its webhooks again",
            explanation: """
                <p>The merchant’s server gets each of them once more, under the id that it had. A server that remembers \
                ids does nothing twice.</p>
                """,
            action: "/purchases/\(story.transactionID)/webhooks",
            by: visitor,
            asksReason: false
        )
    }

    /// The dialog that goes on with a payment that was interrupted.
    static func resumption(of story: Story, by visitor: Visitor) -> ActDialog {
        ActDialog(
            id: "resume",
            words: "Resume the payment",
            explanation: """
                <p><strong>\(story.accountID)</strong> is charged <strong>\(story.price)</strong> for \
                \(story.quantity) × \(story.productID), as if the buyer had solved the problem.</p>
                <p class="dim">Only a sandbox can do this. It is a test, so the books keep no reason for it.</p>
                """,
            action: "/purchases/\(story.transactionID)/resumption",
            by: visitor,
            asksReason: false
        )
    }

    /// The button that opens the dialog.
    var button: HTML {
        "<button data-opens=\"\(id)\">\(words)…</button>"
    }

    /// The dialog.
    var dialog: HTML {
        """
        <dialog id="\(id)" aria-labelledby="\(id)-title">
        <form method="post" action="\(action)">
        <h2 id="\(id)-title">\(words)</h2>
        \(explanation)
        \(csrfField)\(fields)\(reason)
        <div class="acts"><button type="button" class="quiet" data-closes>Cancel</button><button>\(words)</button></div>
        </form>
        </dialog>
        """
    }

    private var reason: HTML {
        guard asksReason else { return "" }
        return """
            <label for="\(id)-reason">Reason; it stays in the books with your name</label>
            <input id="\(id)-reason" name="reason" required maxlength="500" autocomplete="off">
            """
    }
}

extension ActDialog {
    /// The buttons of some acts, with their dialogs; nothing if there are none.
    static func row(_ dialogs: [ActDialog]) -> HTML {
        guard !dialogs.isEmpty else { return "" }
        return "<div class=\"acts\">\(dialogs.map(\.button))</div>\(dialogs.map(\.dialog))"
    }
}
