import EventTypes
import StoreAPI
import StoreHarness

/// The catalog of a chaos run: the sample catalog with offers, and with products that families
/// share.
enum ChaosCatalog {
    /// The days of the store after which the price of a product rises.
    ///
    /// They are apart, so that questions come throughout a run. At each, some subscribers have paid the
    /// old price before.
    private static let raiseDays: [ProductID: Int64] = [
        SampleCatalog.basicClub: 20, SampleCatalog.weeklyClub: 35, SampleCatalog.gold: 60,
        SampleCatalog.club: 90, SampleCatalog.yearlyClub: 120,
    ]

    /// Sells everything, and waits until it can be bought.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - redemptions: The number of times that the custom code can be redeemed.
    /// - Throws: ``HarnessError`` if the store does not take it in time.
    static func sell(in store: StoreHarness, redemptions: Int) async throws {
        guard var pro = try SampleCatalog.document().products[SampleCatalog.pro] else {
            throw HarnessError("The sample catalog does not sell \(SampleCatalog.pro).")
        }
        pro.isFamilyShareable = true
        try await put(pro, as: SampleCatalog.pro, in: store)
        let time = try await store.administrator.clock().value.now
        for club in SampleCatalog.clubs {
            try await put(subscription(club, soldFrom: time), as: club, in: store)
            try await store.waitUntilSellable(club)
        }
        try await SampleCodes.make(in: store, redemptions: redemptions)
    }

    /// A subscription, perhaps with an introductory, promotional or win-back offer or one of codes, with
    /// a price that rises, or shared by families.
    private static func subscription(
        _ club: ProductID,
        soldFrom time: StoreTime
    ) -> ProductDraft {
        var draft = SampleCatalog.subscription(club)
        let month = SubscriptionPeriod(1, .month)
        switch club {
        case SampleCatalog.club:
            let free = [SampleCatalog.usa: SampleCatalog.usd(0)]
            let terms = OfferTerms(mode: .freeTrial, period: month, prices: free)
            draft.codeOffers = [CodeOffer(id: SampleCodes.offer, terms: terms)]
            draft.winBackOffers = [
                WinBackOffer(id: ChaosBuyers.winBack, monthsSinceEnd: 1, terms: reduced(month, 99))
            ]
        case SampleCatalog.gold, SampleCatalog.basicClub:
            draft.introductoryOffer = reduced(month, 99)
        case SampleCatalog.yearlyClub: draft.isFamilyShareable = true
        default: break
        }
        if ChaosBuyers.promoted.contains(club) {
            let period = club == SampleCatalog.gold ? month : SubscriptionPeriod(1, .week)
            let cents: Int64 = club == SampleCatalog.gold ? 199 : 59
            draft.promotionalOffers = [
                PromotionalOffer(id: ChaosBuyers.promotional, terms: reduced(period, cents))
            ]
        }
        if let raised = ChaosBuyers.raisedPrices[club], let days = raiseDays[club] {
            draft.priceChanges = [
                SampleCatalog.usa: PriceChange(
                    price: raised,
                    from: time.advanced(by: .seconds(days * 86_400)),
                    existingSubscribers: .raise
                )
            ]
        }
        return draft
    }

    /// Two periods at a lower price.
    private static func reduced(_ period: SubscriptionPeriod, _ cents: Int64) -> OfferTerms {
        OfferTerms(
            mode: .payAsYouGo,
            period: period,
            numberOfPeriods: 2,
            prices: [SampleCatalog.usa: SampleCatalog.usd(cents)]
        )
    }

    private static func put(
        _ draft: ProductDraft,
        as product: ProductID,
        in store: StoreHarness
    ) async throws {
        let answer = try await store.administrator.put(draft, as: product)
        guard (200..<300).contains(answer.status) else {
            throw HarnessError("\(product) was refused with \(answer.status): \(answer.text)")
        }
    }
}
