import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import PaymentQueue

/// Products as apps see them: as the catalog has them (spec rules 101 and 102).
@Suite struct ProductTests {
    private static let listing = ProductListing(
        id: ProductID(unchecked: "com.example.pro"),
        version: 3,
        type: .nonConsumable,
        price: Money(minorUnits: 1_299, currency: Currency(unchecked: "EUR")),
        title: "Pro",
        description: "Everything, for ever.",
        language: LanguageTag(unchecked: "de-DE")
    )

    @Test func aProductHasTheTitleAndTheDescriptionOfItsListing() {
        let product = SKProduct(Self.listing, storefront: "DEU")
        #expect(product.productIdentifier == "com.example.pro")
        #expect(product.localizedTitle == "Pro")
        #expect(product.localizedDescription == "Everything, for ever.")
        #expect(product.kind == .nonConsumable)
    }

    @Test func aProductHasThePriceOfItsListingAsTheBuyerReadsIt() {
        let product = SKProduct(Self.listing, storefront: "DEU")
        #expect(product.price == Decimal(string: "12.99"))
        #expect(product.priceLocale.identifier == "de_DE@currency=EUR")
        #expect(product.displayPrice.filter { !$0.isWhitespace } == "12,99€")
        #expect(product.storefront == "DEU")
    }

    @Test func aProductHasTheIntroductoryOfferOfItsListing() throws {
        var listing = Self.listing
        listing.type = .autoRenewableSubscription
        listing.subscription = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "club"),
            level: 1,
            period: SubscriptionPeriod(1, .month)
        )
        #expect(SKProduct(listing, storefront: "DEU").introductoryPrice == nil)
        listing.introductoryOffer = OfferListing(
            mode: .payAsYouGo,
            period: SubscriptionPeriod(1, .month),
            numberOfPeriods: 3,
            price: Money(minorUnits: 199, currency: Currency(unchecked: "EUR"))
        )
        let product = SKProduct(listing, storefront: "DEU")
        let discount = try #require(product.introductoryPrice)
        #expect(discount.identifier == nil && discount.type.rawValue == 0)
        #expect(discount.price == Decimal(string: "1.99") && discount.numberOfPeriods == 3)
        #expect(discount.subscriptionPeriod.description == "1 month")
        #expect(discount.priceLocale == product.priceLocale)
        let offer = try #require(PaymentQueue.Product(product).subscription?.introductoryOffer)
        #expect(offer.type == .introductory && offer.paymentMode == .payAsYouGo)
        #expect(offer.periodCount == 3 && offer.period.unit == .month && offer.id == nil)
        #expect(offer.displayPrice.filter { !$0.isWhitespace } == "1,99€")
        // A mode of a newer store is not shown.
        let terms = try #require(listing.introductoryOffer)
        let id = OfferID(unchecked: "spring")
        listing.promotionalOffers = [NamedOfferListing(id: id, terms: terms)]
        let both = SKProduct(listing, storefront: "DEU")
        #expect(both.discounts.map(\.identifier) == ["spring"])
        #expect(both.discounts.map(\.type) == [.subscription])
        #expect(both.discounts.map(\.price) == [discount.price])
        let offers = PaymentQueue.Product(both).subscription?.promotionalOffers
        #expect(offers?.map(\.id) == ["spring"] && offers?.map(\.type) == [.promotional])
        listing.winBackOffers = [NamedOfferListing(id: OfferID(unchecked: "back"), terms: terms)]
        let three = PaymentQueue.Product(SKProduct(listing, storefront: "DEU"))
        let winBack = try #require(three.subscription?.winBackOffers.first)
        #expect(winBack.id == "back" && winBack.type == .winBack)
        #expect(three.product.discounts.map(\.identifier) == ["spring"])
        listing.introductoryOffer?.mode = .unknown("barter")
        #expect(SKProduct(listing, storefront: "DEU").introductoryPrice == nil)
        let modes: [SKProductDiscount.PaymentMode] = [.payAsYouGo, .payUpFront, .freeTrial]
        #expect(modes.map(\.rawValue) == [0, 1, 2])
    }

    @Test func aProductWithContentIsDownloadable() {
        let content = OfferedContent(
            productID: Self.listing.id,
            version: ContentVersion(unchecked: "1.2"),
            length: 52_428_800
        )
        let product = SKProduct(Self.listing, storefront: "DEU", content: content)
        #expect(product.isDownloadable)
        #expect(product.downloadContentLengths == [52_428_800])
        #expect(product.downloadContentVersion == "1.2")
        let other = SKProduct(Self.listing, storefront: "DEU")
        #expect(!other.isDownloadable && other.downloadContentLengths.isEmpty)
        #expect(other.downloadContentVersion.isEmpty)
    }

    @Test(arguments: [true, false])
    func aProductIsShareableAsItsListingSays(_ isShareable: Bool) {
        var listing = Self.listing
        listing.isFamilyShareable = isShareable
        let product = SKProduct(listing, storefront: "DEU")
        #expect(product.isFamilyShareable == isShareable)
        #expect(PaymentQueue.Product(product).isFamilyShareable == isShareable)
    }

    @Test(arguments: [
        (SubscriptionPeriod(1, .week), SKProduct.PeriodUnit.week, "1 week"),
        (SubscriptionPeriod(3, .month), .month, "3 months"),
        (SubscriptionPeriod(1, .year), .year, "1 year"),
        (SubscriptionPeriod(3, .day), .day, "3 days"),
    ])
    func aSubscriptionHasItsGroupAndItsPeriod(
        period: SubscriptionPeriod,
        unit: SKProduct.PeriodUnit,
        text: String
    ) {
        var listing = Self.listing
        listing.type = .autoRenewableSubscription
        listing.subscription = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "21345678"),
            level: 1,
            period: period
        )
        let product = SKProduct(listing, storefront: "DEU")
        #expect(product.subscriptionGroupIdentifier == "21345678")
        let terms = PaymentQueue.Product(product).subscription
        #expect(terms?.groupDisplayName == "21345678", "the group has no name")
        listing.subscriptionGroupName = "The club"
        let named = PaymentQueue.Product(SKProduct(listing, storefront: "DEU")).subscription
        #expect(named?.groupDisplayName == "The club")
        #expect(product.subscriptionPeriod?.numberOfUnits == period.value)
        #expect(product.subscriptionPeriod?.unit == unit)
        #expect(product.subscriptionPeriod?.description == text)
        #expect(product.subscriptionPeriod == SKProductSubscriptionPeriod(period))
    }

    @Test func aPeriodUnitHasTheRawValueOfStoreKit() {
        let units: [SKProduct.PeriodUnit] = [.day, .week, .month, .year]
        #expect(units.map(\.rawValue) == [0, 1, 2, 3])
    }

    @Test func otherProductsHaveNoPeriod() {
        let product = SKProduct(Self.listing, storefront: "DEU")
        #expect(product.subscriptionPeriod == nil)
        #expect(product.subscriptionGroupIdentifier == nil)
    }

    @Test func theModernProductSaysTheSame() {
        let product = PaymentQueue.Product(SKProduct(Self.listing, storefront: "DEU"))
        #expect(product.id == "com.example.pro" && product.type == .nonConsumable)
        #expect(product.displayName == "Pro")
        #expect(product.description == "Everything, for ever.")
        #expect(product.price == Decimal(string: "12.99"))
        #expect(product.displayPrice.filter { !$0.isWhitespace } == "12,99€")
        let two = (product.price * 2).formatted(product.priceFormatStyle)
        #expect(two.filter { !$0.isWhitespace } == "25,98€")
    }

    @Test(arguments: [
        (ProductType.consumable, SKProduct.Kind.consumable),
        (.nonConsumable, .nonConsumable), (.autoRenewableSubscription, .autoRenewable),
        (.nonRenewingSubscription, .nonRenewable), (.unknown("rental"), .unknown("rental")),
    ])
    func aProductHasTheTypeOfItsListing(type: ProductType, kind: SKProduct.Kind) {
        var listing = Self.listing
        listing.type = type
        #expect(SKProduct(listing, storefront: "DEU").kind == kind)
    }
}
