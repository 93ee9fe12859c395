import EventTypes
import OperatorCore

/// One offer of a product, of any kind.
struct OfferDraft: Hashable, Sendable {
    let kind: OfferKind
    /// The id; the introductory offer has none.
    var id: OfferID?
    /// Whether it can be had; an introductory offer always can.
    var isActive = true
    /// The customers who may redeem a code of it.
    var customers = CustomerKind.all
    /// Whether the introductory offer comes before it.
    var isStackable = false
    /// The accounts that may have a win-back offer, and when.
    var winBack = WinBackConditions()
    var terms: OfferTerms

    /// All offers of a kind.
    static func all(_ kind: OfferKind, of offers: ProductOffers) -> [OfferDraft] {
        switch kind {
        case .introductory:
            offers.introductory.map { [OfferDraft(kind: kind, terms: $0)] } ?? []
        case .promotional:
            offers.promotional.map {
                OfferDraft(kind: kind, id: $0.id, isActive: $0.isActive, terms: $0.terms)
            }
        case .code:
            offers.codes.map {
                OfferDraft(
                    kind: kind,
                    id: $0.id,
                    isActive: $0.isActive,
                    customers: $0.customers,
                    isStackable: $0.isStackable,
                    terms: $0.terms
                )
            }
        case .winBack:
            offers.winBacks.map {
                OfferDraft(
                    kind: kind,
                    id: $0.id,
                    isActive: $0.isActive,
                    winBack: WinBackConditions($0),
                    terms: $0.terms
                )
            }
        }
    }

    /// Puts the offer among others, in the place of the one with its id.
    func put(into offers: inout ProductOffers) {
        guard let id else {
            offers.introductory = terms
            return
        }
        switch kind {
        case .introductory: offers.introductory = terms
        case .promotional:
            let offer = PromotionalOffer(id: id, isActive: isActive, terms: terms)
            let index = offers.promotional.firstIndex { $0.id == id }
            if let index {
                offers.promotional[index] = offer
            } else {
                offers.promotional.append(offer)
            }
        case .code:
            let offer = CodeOffer(
                id: id,
                isActive: isActive,
                customers: customers,
                isStackable: isStackable,
                terms: terms
            )
            let index = offers.codes.firstIndex { $0.id == id }
            if let index { offers.codes[index] = offer } else { offers.codes.append(offer) }
        case .winBack:
            let offer = winBack.offer(id, isActive: isActive, terms)
            let index = offers.winBacks.firstIndex { $0.id == id }
            if let index { offers.winBacks[index] = offer } else { offers.winBacks.append(offer) }
        }
    }

    /// Takes the offer away from others.
    func remove(from offers: inout ProductOffers) {
        switch kind {
        case .introductory: offers.introductory = nil
        case .promotional: offers.promotional.removeAll { $0.id == id }
        case .code: offers.codes.removeAll { $0.id == id }
        case .winBack: offers.winBacks.removeAll { $0.id == id }
        }
    }
}
