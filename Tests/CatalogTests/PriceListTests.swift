import EventTypes
import StoreAPI
import Testing

@testable import Catalog

@Suite struct PriceListTests {
    private func list(_ products: Product...) -> PriceList {
        var list = PriceList()
        list.merge(products)
        return list
    }

    private func product(
        _ id: String,
        prices: [Storefront: Money],
        isOnSale: Bool = true
    ) -> Product {
        var draft = Builder.draft(isOnSale: isOnSale)
        draft.prices = prices
        return Builder.product(ProductID(unchecked: id), draft: draft)
    }

    @Test func theRequestIsPartedInItsOrder() {
        let usd = [Builder.usa: Builder.money(99, "USD")]
        let list = list(
            product("a", prices: usd),
            product("b", prices: usd),
            product("gone", prices: usd, isOnSale: false),
            product("french", prices: [Builder.france: Builder.money(119, "EUR")])
        )
        let response = list.response(
            to: ["b", "unknown", "gone", "not an id", "a", "french", "b", "unknown", ""],
            in: Builder.usa,
            language: Builder.en
        )
        #expect(response.storefront == Builder.usa)
        #expect(response.products.map(\.id.rawValue) == ["b", "a"])
        #expect(response.invalidProductIDs == ["unknown", "gone", "not an id", "french", ""])
        #expect(
            list.response(to: ["french"], in: Builder.france, language: Builder.en)
                .products.map(\.price.description) == ["1.19 EUR"]
        )
    }

    /// A buyer is shown every member (spec rules 101 and 102).
    @Test func aListingHasEachMemberOfItsProduct() {
        var draft = Builder.draft(.nonConsumable, cents: 99)
        draft.isFamilyShareable = true
        draft.localizations = [
            Builder.en: ProductText(title: "100 coins", description: "A bag of coins."),
            LanguageTag(unchecked: "fr"): ProductText(
                title: "100 pièces",
                description: "Un sac de pièces."
            ),
        ]
        draft.prices[Builder.france] = Builder.money(119, "EUR")
        let product = Builder.product(Builder.coins, version: 3, draft: draft)
        let french = LanguageTag(unchecked: "fr")
        #expect(
            PriceList().listing(of: product, in: Builder.france, language: french)
                == ProductListing(
                    id: Builder.coins,
                    version: 3,
                    type: .nonConsumable,
                    price: Builder.money(119, "EUR"),
                    title: "100 pièces",
                    description: "Un sac de pièces.",
                    language: french,
                    isFamilyShareable: true
                )
        )
    }

    @Test func everythingOnSaleIsListedInPages() {
        let usd = [Builder.usa: Builder.money(99, "USD")]
        let euro = [Builder.france: Builder.money(119, "EUR")]
        let ids = ["a", "a.b", "b", "c", "d"]
        var list = PriceList()
        // Products may be merged in any order.
        for id in ["c", "a.b", "d", "a", "b"] { list.merge([product(id, prices: usd)]) }
        list.merge([
            product("a.a", prices: usd, isOnSale: false), product("z", prices: euro),
            product("0", prices: usd, isOnSale: false),
        ])
        func pages(of countMax: Int) -> [[String]] {
            var pages: [[String]] = []
            var previous: ProductID?
            repeat {
                let page = list.page(
                    in: Builder.usa,
                    language: Builder.en,
                    after: previous,
                    countMax: countMax
                )
                pages.append(page.products.map(\.id.rawValue))
                previous = page.next
            } while previous != nil
            return pages
        }
        #expect(pages(of: 2) == [["a", "a.b"], ["b", "c"], ["d"]])
        // The last page is marked as the last even if it is full.
        #expect(pages(of: 5) == [ids])
        #expect(pages(of: 1) == ids.map { [$0] })
        func first(after id: String) -> String? {
            list.page(
                in: Builder.usa,
                language: Builder.en,
                after: ProductID(unchecked: id),
                countMax: 1
            ).products.first?.id.rawValue
        }
        #expect(first(after: "a.a") == "a.b" && first(after: "aa") == "b")
        #expect(first(after: "0") == "a" && first(after: "d") == nil && first(after: "zz") == nil)
        let french = list.page(in: Builder.france, language: Builder.en, countMax: 200)
        #expect(french.products.map(\.price.description) == ["1.19 EUR"])
        #expect(french.next == nil && french.invalidProductIDs.isEmpty)
    }

    @Test func onlyANewerVersionIsTaken() {
        var list = list(Builder.product(version: 3))
        list.merge([Builder.product(version: 2, draft: Builder.draft(cents: 1))])
        list.merge([Builder.product(version: 3, draft: Builder.draft(cents: 1))])
        #expect(list.products[Builder.premium]?.prices[Builder.usa] == Builder.money(499, "USD"))
        list.merge([Builder.product(version: 4, draft: Builder.draft(cents: 1))])
        #expect(list.products[Builder.premium]?.version == 4)
    }

    @Test(arguments: [
        ("fr", ["en", "fr", "fr-CA"], "fr"),
        ("FR-ca", ["en", "fr", "fr-CA"], "fr-CA"),
        ("fr-BE", ["en", "fr", "fr-CA"], "fr"),
        ("fr-BE", ["en", "fr-CH", "fr-CA"], "fr-CA"),
        ("fr", ["en", "fr-CH", "fr-CA"], "fr-CA"),
        ("zh-Hans-CN", ["zh-Hant", "zh-Hans", "zh"], "zh-Hans"),
        ("zh-Hans-CN", ["zh-Hant", "zh"], "zh"),
        ("fr", ["fra", "en"], "en"),
        ("de", ["en", "fr"], "en"),
        ("de", ["en-US", "en-GB", "fr"], "en-GB"),
        ("de", ["ja", "fr"], "fr"),
        ("en-US", ["en"], "en"),
        ("x-klingon", ["x-elvish", "en"], "x-elvish"),
    ])
    func languagesFallBack(asked: String, available: [String], shown: String) {
        let tags = available.map { LanguageTag(unchecked: $0) }
        for order in [tags, tags.reversed()] {
            #expect(
                PriceList.language(LanguageTag(unchecked: asked), of: order)?.rawValue == shown
            )
        }
    }

    @Test func withoutAnyTextThereIsNothingToShow() {
        #expect(PriceList.language(Builder.en, of: []) == nil)
        var product = Builder.product()
        product.localizations = [:]
        #expect(PriceList().listing(of: product, in: Builder.usa, language: Builder.en) == nil)
    }

    @Test func nothingIsListedBeforeTheProductsAreRead() throws {
        let priceList = CurrentPriceList()
        priceList.merge([Builder.product()])
        let error = #expect(throws: CatalogError.self) { try priceList.current() }
        #expect(error?.isRetriable == true)
        priceList.load([])
        #expect(try priceList.current().products.count == 1)
        #expect(priceList.missing(of: [Builder.premium: 1]).isEmpty)
        #expect(priceList.missing(of: [Builder.premium: 2]) == [Builder.premium])
        #expect(priceList.missing(of: [Builder.coins: 1]) == [Builder.coins])
    }

    @Test func equalAnswersHaveEqualTags() {
        #expect(
            CatalogRoutes.entityTag(of: Array("a".utf8))
                == CatalogRoutes.entityTag(of: Array("a".utf8))
        )
        #expect(
            CatalogRoutes.entityTag(of: Array("a".utf8))
                != CatalogRoutes.entityTag(of: Array("b".utf8))
        )
        #expect(CatalogRoutes.entityTag(of: [UInt8]()) == "\"e3b0c44298fc1c149afbf4c8996fb924\"")
    }
}
