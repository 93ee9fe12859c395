import EventTypes
import OperatorCore
import StoreAPI

/// All offers of a subscription, each with the way to change it.
///
/// Pure.
struct OfferListPage {
    let product: Product
    let visitor: Visitor
    /// Whether a change was saved just now.
    var isSaved = false

    var html: HTML {
        PageFrame(title: "Offers of \(product.id)", visitor: visitor).page(
            """
            \(notice)
            \(OfferKind.allCases.map(section))
            <p><a href="\(PlainWords.path(ofProduct: product.id))">The product</a></p>
            """
        )
    }

    /// The path of the offers of a product.
    static func path(of id: ProductID) -> String { PlainWords.path(ofProduct: id) + "/offers" }

    /// The path of the page of an offer, or of a new one of its kind.
    static func path(of offer: OfferDraft?, _ kind: OfferKind, of id: ProductID) -> String {
        let form = "\(path(of: id))/\(kind.rawValue)"
        guard let offer = offer?.id else { return form }
        return "\(form)?\(PlainWords.query([("id", offer.rawValue)]))"
    }

    private var notice: HTML {
        guard isSaved else { return "" }
        return
            "<p class=\"notice\" role=\"status\">Saved: the product is at version \(product.version).</p>"
    }

    private func section(_ kind: OfferKind) -> HTML {
        let offers = OfferDraft.all(kind, of: ProductOffers(product))
        let cards: HTML =
            offers.isEmpty
            ? "<p class=\"empty\">There is none.</p>"
            : "<div class=\"cards\">\(offers.map(card))</div>"
        return """
            <section aria-labelledby="\(kind.rawValue)"><h2 id="\(kind.rawValue)">\(kind.title)</h2>
            <p class="dim">\(kind.words)</p>\(cards)\(add(kind, isOne: !offers.isEmpty))</section>
            """
    }

    private func card(_ offer: OfferDraft) -> HTML {
        let name = offer.id?.rawValue ?? "introductory"
        let lines: [HTML] = OfferWords.parts(of: offer).dropFirst().map {
            "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>"
        }
        let change: HTML? =
            visitor.mayAct(as: .merchandiser)
            ? "<p><a href=\"\(Self.path(of: offer, offer.kind, of: product.id))\">Change \(name)</a></p>"
            : nil
        return """
            <section class="card" aria-label="\(name)"><h3>\(name)</h3><dl class="facts">\(lines)</dl>\(change)\(codes(of: offer))</section>
            """
    }

    /// The way to the form that makes codes, which then has the ids of the offer.
    private func codes(of offer: OfferDraft) -> HTML? {
        guard visitor.mayAct(as: .merchandiser), offer.kind == .code, let id = offer.id else {
            return nil
        }
        let query = PlainWords.query([("product", product.id.rawValue), ("offer", id.rawValue)])
        return "<p><a href=\"/codes?\(query)\">Make codes of \(id)</a></p>"
    }

    private func add(_ kind: OfferKind, isOne: Bool) -> HTML {
        guard visitor.mayAct(as: .merchandiser), kind != .introductory || !isOne else { return "" }
        let path = Self.path(of: nil, kind, of: product.id)
        let words =
            switch kind {
            case .introductory: "Add an introductory offer"
            case .promotional: "Add a promotional offer"
            case .code: "Add a code offer"
            case .winBack: "Add a win-back offer"
            }
        return "<p><a href=\"\(path)\">\(words)</a></p>"
    }
}
