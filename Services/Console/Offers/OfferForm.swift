import EventTypes
import OperatorCore

/// The form of an offer's page, with every text exactly as it was written.
///
/// Pure.
struct OfferForm: Hashable, Sendable {
    /// The version of the product that the form shows.
    var version: Int
    let kind: OfferKind
    /// The id; empty in the form of the introductory offer.
    var id = ""
    var isActive = true
    var isRemoved = false
    var customers = Set(CustomerKind.all.map(\.rawValue))
    var isStackable = false
    var winBack = WinBackFields()
    var mode = OfferMode.freeTrial.rawValue
    var period = "P1M"
    var periods = "1"
    /// The price in each storefront, without the currency; empty where the offer is not made.
    var prices: [String: String] = [:]

    /// The form of an offer as it is, or of a new one.
    init(_ offer: OfferDraft?, _ kind: OfferKind, of product: Product) {
        version = product.version
        self.kind = kind
        guard let offer else { return }
        id = offer.id?.rawValue ?? ""
        isActive = offer.isActive
        customers = Set(offer.customers.map(\.rawValue))
        isStackable = offer.isStackable
        winBack = WinBackFields(offer.winBack)
        mode = offer.terms.mode.rawValue
        period = "\(offer.terms.period)"
        periods = "\(offer.terms.numberOfPeriods)"
        prices = Dictionary(
            uniqueKeysWithValues: offer.terms.prices.map {
                ($0.rawValue, ProductForm.amount($1))
            }
        )
    }

    /// Reads a form that was sent.
    ///
    /// - Returns: `nil` if it lacks the version.
    init?(_ form: FormFields, _ kind: OfferKind) {
        guard let version = form["version"].flatMap({ Int($0) }) else { return nil }
        self.version = version
        self.kind = kind
        id = form["id"] ?? ""
        isActive = form["active"] == "yes"
        isRemoved = form["removed"] == "yes"
        customers = Set(form.values(after: "customers.").filter { $0.value == "yes" }.keys)
        isStackable = form["stackable"] == "yes"
        if kind == .winBack { winBack = WinBackFields(form) }
        mode = form["mode"] ?? ""
        period = form["period"] ?? ""
        periods = form["periods"] ?? ""
        prices = form.values(after: "price.")
    }

    /// All fields by their names, as a browser sends them.
    var fields: [(name: String, value: String)] {
        var fields = [
            ("version", "\(version)"), ("id", id), ("mode", mode), ("period", period),
            ("periods", periods),
        ]
        if isActive { fields.append(("active", "yes")) }
        if isRemoved { fields.append(("removed", "yes")) }
        if isStackable { fields.append(("stackable", "yes")) }
        if kind == .winBack { fields += winBack.all }
        fields += customers.sorted().map { ("customers.\($0)", "yes") }
        fields += prices.sorted { $0.key < $1.key }.map { ("price.\($0.key)", $0.value) }
        return fields
    }

    /// The offer that the form is about, as the product has it; `nil` if it has none.
    func old(in product: Product) -> OfferDraft? {
        OfferDraft.all(kind, of: ProductOffers(product)).first { ($0.id?.rawValue ?? "") == id }
    }

    /// The offer that the form wishes, or what is wrong in it.
    ///
    /// - Parameter product: The product.
    /// - Returns: The offer, which is `nil` if the form removes it, and the problems.
    func wish(for product: Product) -> (offer: OfferDraft?, problems: [String]) {
        guard !isRemoved else { return (nil, []) }
        var problems: [String] = []
        let offerID = kind == .introductory ? nil : OfferID(rawValue: id)
        if kind != .introductory, offerID == nil { problems.append("The id is \(OfferID.form).") }
        guard let period = SubscriptionPeriod(iso8601: period) else {
            return (nil, problems + ["“\(period)” is not a period such as P1W, P1M or P1Y."])
        }
        guard let periods = Int(periods), periods > 0 else {
            return (nil, problems + ["The number of periods is a whole number from 1."])
        }
        let terms = OfferTerms(
            mode: OfferMode(rawValue: mode),
            period: period,
            numberOfPeriods: periods,
            prices: readPrices(for: product, &problems)
        )
        let conditions =
            kind == .winBack
            ? winBack.wish(
                changing: old(in: product)?.winBack ?? WinBackConditions(),
                &problems
            ) : WinBackConditions()
        let offer = OfferDraft(
            kind: kind,
            id: offerID,
            isActive: isActive,
            customers: CustomerKind.all.filter { customers.contains($0.rawValue) },
            isStackable: isStackable,
            winBack: conditions,
            terms: terms
        )
        return (offer, problems)
    }

    private func readPrices(
        for product: Product,
        _ problems: inout [String]
    ) -> [Storefront: Money] {
        var found: [Storefront: Money] = [:]
        for (storefront, ordinary) in product.prices.sorted(by: {
            $0.key.rawValue < $1.key.rawValue
        }) {
            guard let text = prices[storefront.rawValue], !text.isEmpty else { continue }
            if let price = Money(decimal: text, currency: ordinary.currency) {
                found[storefront] = price
            } else {
                problems.append(
                    "“\(text)” is not a price in \(ordinary.currency) for \(storefront)."
                )
            }
        }
        return found
    }

    /// The offers of a product after the change.
    func offers(of product: Product) -> ProductOffers {
        var offers = ProductOffers(product)
        let (wish, old) = (wish(for: product).offer, old(in: product))
        if let wish { wish.put(into: &offers) } else { old?.remove(from: &offers) }
        return offers
    }
}
