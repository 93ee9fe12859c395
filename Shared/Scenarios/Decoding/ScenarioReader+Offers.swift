import EventTypes
import StoreAPI

/// Offers of products that renew, and the steps about codes and prices.
extension ScenarioReader {
    /// Decodes the offers of a product with terms that have a name.
    ///
    /// The catalog judges them.
    static func decodeOffers(
        _ value: LocatedValue,
        of terms: SubscriptionTerms?
    ) -> [ScenarioOffer] {
        guard let terms, let price = value["price"]?.money else { return [] }
        return (value["offers"]?.members ?? []).compactMap { member in
            let kind = member.value["kind"]?.text.flatMap(ScenarioOffer.Kind.init(rawValue:))
            guard let kind,
                let offer = decodeOffer(member.value, of: terms, in: price.currency)
            else { return nil }
            return ScenarioOffer(name: member.name, kind: kind, terms: offer)
        }
    }

    /// Decodes the mode, the length and the price of an offer.
    static func decodeOffer(
        _ offer: LocatedValue,
        of terms: SubscriptionTerms,
        in currency: Currency
    ) -> OfferTerms? {
        guard let mode = offer["mode"]?.text else { return nil }
        return OfferTerms(
            mode: OfferMode(rawValue: mode),
            period: offer["period"]?.period ?? terms.period,
            numberOfPeriods: offer["periods"]?.whole ?? 1,
            prices: [Storefront(unchecked: "USA"): offer["price"]?.money ?? .zero(currency)]
        )
    }

    /// Decodes a step whose form is right; `nil` if it is another one, or a name in it is wrong.
    static func decodeCode(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        if let campaign = value["campaign"], let product = value["product"],
            let offer = value["offer"]
        {
            guard let product = names.product(product),
                let offer = names.codeOffer(offer, of: product),
                let name = names.declareCampaign(campaign, of: product)
            else { return nil }
            return .campaign(
                ScenarioCampaign(
                    name: name,
                    product: product,
                    offer: offer.name,
                    count: value["count"]?.whole ?? 1,
                    isOneTime: value["oneTime"]?.flag ?? false
                )
            )
        }
        guard let redeemed = value["redeem"], let payment = value["as"],
            let campaign = names.campaign(redeemed), let device = names.device(value["device"]),
            let name = names.declare(payment, of: campaign.product, boughtOn: device)
        else { return nil }
        return .redeem(
            ScenarioRedemption(
                name: name,
                campaign: campaign.name,
                number: value["number"]?.whole ?? 1,
                product: campaign.product,
                device: device,
                method: value["method"]?.text.flatMap {
                    SandboxPaymentMethod(rawValue: "sandbox_\($0)")
                } ?? .success,
                refused: value["refused"]?.text
            )
        )
    }

    /// Decodes a step whose form is right; `nil` if it is another one, or a name in it is wrong.
    static func decodePrice(
        _ value: LocatedValue,
        _ names: inout ScenarioNames
    ) -> ScenarioAction? {
        let refused = value["refused"]?.text
        if let product = value["price"], let price = value["to"]?.money,
            let delay = value["in"]?.text.flatMap({ ClockSpan($0) })
        {
            return names.product(product).map {
                .price(
                    ScenarioPriceChange(
                        product: $0,
                        price: price,
                        delay: delay,
                        isForSubscribers: value["raise"]?.flag ?? false,
                        refused: refused
                    )
                )
            }
        }
        guard let payment = value["consent"] else { return nil }
        let isDeclined = value["decision"]?.text == "decline"
        return names.subscription(payment).map {
            .consent(isDeclined ? .decline : .agree, payment: $0, refused: refused)
        }
    }
}
