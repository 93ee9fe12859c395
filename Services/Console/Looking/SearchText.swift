import EventTypes
import Foundation
import OperatorCore
import StoreTracing

/// The text of a search, and what it can be.
///
/// Pure.
struct SearchText: Hashable, Sendable {
    /// A dead letter by its service and its number: "receipts 12".
    struct Letter: Hashable, Sendable {
        let service: OperatedService
        let id: Int64
    }

    /// The text without spaces around it.
    let text: String
    /// The transaction that it can be.
    let transaction: TransactionID?
    /// The transaction of the webhook that it can be.
    let webhook: TransactionID?
    /// The transaction of the line item that it can be, as receipts name a paid period.
    let lineItem: TransactionID?
    /// The dispute that it can be, as the processor names it.
    let dispute: String?
    /// The charge or the refund that it can be, as the processor names it, or the store's try to make it.
    let reference: String?
    /// The order that it can be.
    let order: OrderID?
    /// The account that it can be.
    let account: AccountID?
    /// The product that it can be.
    let product: ProductID?
    /// The number of a campaign of codes that it can be.
    let campaign: Int64?
    /// The custom code that it can be, in capitals.
    let code: String?
    /// The family that it can be.
    let family: FamilyID?
    /// The event that it can be, the notification, or the job.
    let event: EventID?
    /// The trace that it can be.
    let trace: TraceID?
    /// The dead letter that it can be.
    let letter: Letter?

    init(_ text: String) {
        self.text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        transaction = TransactionID(rawValue: self.text)
        webhook = Self.webhook(in: self.text)
        lineItem = TransactionID(webOrderLineItemID: self.text)
        dispute = Self.dispute(in: self.text)
        reference = Self.reference(in: self.text)
        order = OrderID(rawValue: self.text.uppercased())
        account = AccountID(rawValue: self.text)
        product = ProductID(rawValue: self.text)
        campaign = Self.number(in: self.text)
        code = Self.code(in: self.text)
        family = FamilyID(rawValue: self.text.lowercased())
        event = EventID(self.text)
        let lower = self.text.lowercased()
        trace = TraceID(lower) ?? TraceContext(lower)?.traceID
        letter = Self.letter(in: self.text)
    }

    /// The transactions to look for; an order is the transaction of its first purchase.
    ///
    /// The ids of a webhook and of a line item have that of the transaction in them.
    var transactions: [TransactionID] {
        [order?.transactionID, transaction, webhook, lineItem].compactMap(\.self)
    }

    /// The things to look for, in words; nobody looks for what the visitor may not see.
    func words(for visitor: Visitor) -> [String] {
        let charge: String? = reference.map {
            "the charge or refund \($0) at the processor, among the newest "
                + IDSearchReader.attemptsMax.grouped
        }
        var words = [
            transaction.map { "the transaction \($0)" }, order.map { "the order \($0)" },
            webhook.map { _ in "the webhook \(text)" },
            lineItem.map { _ in "the line item \(text) of an order" },
            dispute.map { "the dispute \($0)" },
            charge, account.map { "the account \($0)" },
        ]
        if visitor.maySee(.products) {
            words += [
                product.map { "the product \($0)" },
                campaign.map { "the campaign \($0) of offer codes" },
                code.map { "the custom code \($0)" },
            ]
        }
        words += [
            family.map { "the family \($0)" }, event.map { "the event \($0)" },
            event.map { "the notification \($0)" },
        ]
        if visitor.maySeeJobs(of: .replay) {
            words.append(event.map { "the replay, proof or reconciliation \($0)" })
        }
        if visitor.maySeeJobs(of: .raise) {
            words.append(event.map { "the raise of a price \($0)" })
        }
        words.append(
            trace.map {
                "the trace \($0), among the newest \(IDSearchReader.eventsMax.grouped) events of "
                    + "payments"
            }
        )
        return words.compactMap(\.self)
    }

    /// The transaction in the id that a webhook has at every try.
    private static func webhook(in text: String) -> TransactionID? {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0] == "delivery" else { return nil }
        return TransactionID(rawValue: String(parts[1]))
    }

    /// A text that begins as the processor's names of disputes do.
    private static func dispute(in text: String) -> String? {
        text.hasPrefix("dp_") || text.hasPrefix("du_") ? text : nil
    }

    /// A text that begins as the processor's names of charges and refunds do, or the id of a try, which
    /// the processor has in the texts of a charge.
    private static func reference(in text: String) -> String? {
        if let attempt = EventID(text) { return attempt.description }
        let beginnings = ["pi_", "ch_", "py_", "re_", "pyr_", "txn_", "sandbox-"]
        return beginnings.contains { text.hasPrefix($0) } ? text : nil
    }

    /// The service and the number that a text names.
    private static func letter(in text: String) -> Letter? {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let service = OperatedService(rawValue: parts[0].lowercased()),
            OperatedService.consumers.contains(service), let id = number(in: String(parts[1]))
        else { return nil }
        return Letter(service: service, id: id)
    }

    /// The positive number that a text is.
    private static func number(in text: String) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
            return nil
        }
        return number > 0 ? number : nil
    }

    /// A text of letters and digits in capitals, and without the hyphens that people write in codes.
    private static func code(in text: String) -> String? {
        let code = text.uppercased().filter { $0 != "-" }
        let isWord = code.unicodeScalars.allSatisfy {
            ("A"..."Z").contains($0) || ("0"..."9").contains($0)
        }
        return isWord && (4...64).contains(code.utf8.count) ? code : nil
    }
}
