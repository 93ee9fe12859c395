import EventTypes
import OperatorCore

/// The postings of a purchase, each with its entries and their sum.
///
/// Pure.
struct PostingsTable {
    let postings: [Story.Posting]

    var html: HTML {
        guard !postings.isEmpty else {
            return "<p class=\"empty\">No money has moved, so nothing is posted.</p>"
        }
        return "<div class=\"cards\">\(postings.map(table))</div>"
    }

    /// The sums of entries, one for each currency; each is zero if the books are right.
    static func sums(of entries: [Story.Posting.Entry]) -> [Money] {
        var sums: [Currency: Money] = [:]
        for entry in entries {
            let currency = entry.amount.currency
            sums[currency] = (sums[currency] ?? .zero(currency)).adding(entry.amount)
        }
        return sums.values.sorted { "\($0.currency)" < "\($1.currency)" }
    }

    private func table(_ posting: Story.Posting) -> HTML {
        let kind = PurchaseWords.posting(posting.kind)
        return Self.table("\(kind), \(PlainWords.second(posting.time))", posting.entries)
    }

    /// A table of entries with their sums.
    static func table(_ caption: String, _ entries: [Story.Posting.Entry]) -> HTML {
        let rows: [HTML] = entries.map { entry in
            """
            <tr><th scope="row" title="\(entry.account)">\(PurchaseWords.account(entry.account))</th>\
            <td>\(entry.amount)</td></tr>
            """
        }
        let sums: [HTML] = Self.sums(of: entries).map { sum in
            let tone = sum.isZero ? "tone-good" : "tone-bad"
            return
                "<tr class=\"sum\"><th scope=\"row\">sum</th><td class=\"\(tone)\" data-sum=\"\(sum.minorUnits)\">\(sum)</td></tr>"
        }
        return """
            <table class="card">
            <caption>\(caption)</caption>
            <thead><tr><th scope="col">account</th><th scope="col">amount</th></tr></thead>
            <tbody>\(rows)</tbody><tfoot>\(sums)</tfoot>
            </table>
            """
    }
}
