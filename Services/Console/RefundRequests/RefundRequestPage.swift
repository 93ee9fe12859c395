import EventTypes
import OperatorCore
import StoreAPI

/// A buyer's request for a refund: the purchase, the merchant's report, and the decision.
///
/// Pure.
struct RefundRequestPage {
    /// The report of the merchant's server on the purchase.
    enum Report: Sendable {
        /// It has reported nothing.
        case missing
        /// The visitor may not read it.
        case hidden
        case read(ConsumptionInformation)
        /// Nobody knows; the text says why.
        case unknown(String)
    }

    let found: RefundRequestResponse
    let report: Report
    let visitor: Visitor
    /// Whether another refund of the purchase was sent and has no answer.
    var hasLostRefund = false
    /// Whether the decision was sent just now.
    var isDecided = false

    private var request: RequestedRefund { found.request }
    private var transaction: Transaction { found.transaction }

    var html: HTML {
        PageFrame(title: "Refund of \(request.productID)?", visitor: visitor).page(
            """
            \(notice)
            <section class="card" aria-label="The request"><dl class="facts">\(facts)</dl></section>
            \(ActDialog.row(dialogs))
            \(decisions)
            <p><a href="/refund-requests">All requests</a></p>
            """
        )
    }

    private var notice: HTML {
        if isDecided {
            return
                "<p class=\"notice\" role=\"status\">The decision is written. The state below says what became of it.</p>"
        }
        guard hasLostRefund else { return "" }
        return """
            <p class="problem" role="status">A refund of this purchase has no answer. It may have been made. \
            <a href="/purchases/\(request.transactionID)">Repeat that one</a> before you approve this request.</p>
            """
    }

    private var facts: [HTML] {
        let state = RefundRequestWords.state(of: request, found.refundState)
        var lines: [HTML] = [
            line(
                "state",
                "<span id=\"state\" class=\"tone-\(state.tone.rawValue)\">\(state.text)</span>"
            ),
            line("the buyer’s reason", "\(RefundRequestWords.words(for: request.reason))"),
            line("asked", "\(PlainWords.second(request.requestedAt)), request \(request.number)"),
            line(
                "account",
                "<a href=\"\(PlainWords.path(ofAccount: request.accountID.rawValue))\">\(request.accountID)</a>"
            ),
            line(
                "purchase",
                "<a href=\"/purchases/\(request.transactionID)\">\(transaction.quantity) × \(request.productID)</a>"
            ),
            line("price", "\(transaction.price) in \(transaction.storefront)"),
            line("given back so far", "\(transaction.refundedAmount)"),
        ]
        if let time = transaction.purchasedAt {
            lines.append(line("bought", "\(PlainWords.second(time))"))
        }
        switch report {
        case .read(let information):
            lines += RefundRequestWords.lines(of: information).map { line($0.name, "\($0.value)") }
        case .missing: lines.append(line("the merchant’s server", "has reported nothing"))
        case .hidden:
            lines.append(line("the merchant’s server", "its report is for the scope support"))
        case .unknown(let words):
            lines.append(line("the merchant’s server", "its report cannot be read: \(words)"))
        }
        return lines
    }

    private func line(_ name: String, _ value: HTML) -> HTML {
        "<div><dt>\(name)</dt><dd>\(value)</dd></div>"
    }

    private var decisions: HTML {
        guard let time = request.decidedAt, let act = found.act else { return "" }
        let words = request.state == .declined ? "declined it" : "approved it"
        return DecisionList.section([DecisionList.line(words, at: time, by: act)])
    }

    /// Whether the request waits for somebody: it is open, or its refund has failed.
    var isUndecided: Bool { request.state == .open || found.refundState == .failed }

    private var dialogs: [ActDialog] {
        guard visitor.mayAct(as: .support), isUndecided else { return [] }
        var dialogs: [ActDialog] = []
        if !hasLostRefund { dialogs.append(approval) }
        if request.state == .open { dialogs.append(decline) }
        return dialogs
    }

    private var action: String {
        RefundRequestListPage.path(of: request.transactionID, request.number) + "/decision"
    }

    private var approval: ActDialog {
        let order = ActFormRules.order(of: transaction)
        return ActDialog(
            id: "approve",
            words: request.state == .open ? "Approve" : "Try the refund again",
            explanation: """
                <p><strong>\(request.accountID)</strong> gets back what is left of <strong>\(transaction.price)</strong> \
                for \(transaction.quantity) × \(request.productID), and loses it. With an amount, the \
                account gets back that amount and keeps the product.</p>
                """,
            fields: """
                <input type="hidden" name="decision" value="approve">
                \(ActDialog.refundFields(in: "approve", of: order, in: transaction.price.currency))
                """,
            action: action,
            by: visitor
        )
    }

    private var decline: ActDialog {
        ActDialog(
            id: "decline",
            words: "Decline",
            explanation: """
                <p><strong>\(request.accountID)</strong> gets nothing back. The merchant’s server is told. The buyer may ask \
                again, and never sees your reason.</p>
                """,
            fields: "<input type=\"hidden\" name=\"decision\" value=\"decline\">",
            action: action,
            by: visitor
        )
    }
}
