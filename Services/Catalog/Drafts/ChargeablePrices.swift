import EventTypes
import StoreAPI
import Stripe

/// The prices that the store's processor can charge.
///
/// Pure. A price that it cannot charge is refused here, because a buyer's payment would fail with
/// it.
enum ChargeablePrices {
    /// The problems of the prices of a product and of its offers.
    ///
    /// - Parameters:
    ///   - draft: The product.
    ///   - id: Its id.
    ///   - processor: The processor.
    /// - Returns: The problems, each with the field of a price; empty if there are none.
    static func problems(
        of draft: ProductDraft,
        _ id: ProductID,
        by processor: ChargingProcessor
    ) -> [ProductProblem] {
        guard processor == .stripe else { return [] }
        var prices = Self.prices(draft.prices, in: "prices")
        for (storefront, change) in sorted(draft.priceChanges ?? [:]) {
            prices.append((field: "priceChanges.\(storefront).price", price: change.price))
        }
        if let offer = draft.introductoryOffer {
            prices += Self.prices(offer.prices, in: "introductoryOffer.prices")
        }
        let named: [(name: String, offers: [OfferTerms])] = [
            ("promotionalOffers", (draft.promotionalOffers ?? []).map(\.terms)),
            ("codeOffers", (draft.codeOffers ?? []).map(\.terms)),
            ("winBackOffers", (draft.winBackOffers ?? []).map(\.terms)),
        ]
        for (name, offers) in named {
            for (index, terms) in offers.enumerated() {
                prices += Self.prices(terms.prices, in: "\(name)[\(index)].prices")
            }
        }
        return prices.compactMap { field, price in
            problem(of: price).map {
                ProductProblem(productID: id.rawValue, field: field, problem: $0)
            }
        }
    }

    /// The reason why Stripe cannot charge a price; `nil` if it can, or if nothing is charged.
    private static func problem(of price: Money) -> String? {
        guard !price.isZero else { return nil }
        do throws(ProcessorAmountError) {
            try ProcessorAmount(price).checkMinimum()
            return nil
        } catch {
            // The report ends each problem with a full stop of its own.
            return "cannot be charged: \(error.description.dropLast())"
        }
    }

    private static func prices(
        _ prices: [Storefront: Money],
        in field: String
    ) -> [(field: String, price: Money)] {
        sorted(prices).map { ("\(field).\($0.key)", $0.value) }
    }

    private static func sorted<Value>(
        _ values: [Storefront: Value]
    ) -> [(key: Storefront, value: Value)] {
        values.sorted { $0.key < $1.key }
    }
}
