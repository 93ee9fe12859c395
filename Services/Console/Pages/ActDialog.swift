import EventTypes
import OperatorCore

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

    /// The dialog of a refund in full.
    static func refund(
        of story: Story,
        order: OrderID,
        key: String,
        by visitor: Visitor
    ) -> ActDialog {
        ActDialog(
            id: "refund",
            words: "Refund",
            explanation: """
                <p><strong>\(story.accountID)</strong> gets back what is left of <strong>\(story.price)</strong> for \
                \(story.quantity) × \(story.productID), and loses it.</p>
                """,
            fields: """
                <input type="hidden" name="key" value="\(key)">
                <label for="refund-order">Type the order id, \(order)</label>
                <input id="refund-order" name="order" required autocomplete="off" spellcheck="false">
                """,
            action: "/purchases/\(story.transactionID)/refund",
            csrfField: visitor.csrfField
        )
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
            csrfField: visitor.csrfField
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
        \(csrfField)\(fields)
        <label for="\(id)-reason">Reason; it stays in the books with your name</label>
        <input id="\(id)-reason" name="reason" required maxlength="500" autocomplete="off">
        <div class="acts"><button type="button" class="quiet" data-closes>Cancel</button><button>\(words)</button></div>
        </form>
        </dialog>
        """
    }
}
