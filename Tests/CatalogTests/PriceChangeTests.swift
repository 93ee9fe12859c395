import EventTypes
import ServiceKit
import StoreAPI
import Testing

@testable import Catalog

/// Prices that change at a time (rule S30).
@Suite struct PriceChangeTests {
    private static let later = Builder.now.advanced(by: .seconds(86_400))
    private static let much = Builder.money(699, "USD")

    private static func scheduled(
        _ price: Money = much,
        from time: StoreTime = later
    ) -> ProductDraft {
        var draft = Builder.subscription()
        draft.priceChanges = [
            Builder.usa: PriceChange(price: price, from: time, existingSubscribers: .raise)
        ]
        return draft
    }

    private static func decide(
        _ draft: ProductDraft,
        onto current: Product? = nil,
        at time: StoreTime = Builder.now
    ) -> ProductRules.Decision {
        ProductRules.decide(
            ProductRules.Edit(id: Builder.premium, wish: .put(draft)),
            current: current,
            at: time
        )
    }

    private static func problems(_ changes: String) throws -> [String] {
        let json = Builder.json(replacing: ["priceChanges": changes])
        return ProductDraftReader.read(try Builder.value(json), id: "a").problems.map {
            "\($0.field) \($0.problem)"
        }
    }

    @Test func theListShowsThePriceOfTheMoment() throws {
        let product = try #require(Self.decide(Self.scheduled()).written)
        let list = PriceList()
        func price(at time: StoreTime) -> Money? {
            list.listing(of: product, in: Builder.usa, language: Builder.en, at: time)?.price
        }
        #expect(price(at: Builder.now) == Builder.money(499, "USD"))
        #expect(price(at: Self.later) == Self.much)
    }

    @Test func theSameChangeAgainIsNoVersion() throws {
        let product = try #require(Self.decide(Self.scheduled()).written)
        #expect(Self.decide(Self.scheduled(), onto: product) == .unchanged(product))
        let other = Self.scheduled(Builder.money(799, "USD"))
        let replaced = try #require(Self.decide(other, onto: product).written)
        #expect(replaced.version == 2)
        #expect(replaced.priceChanges[Builder.usa]?.price.minorUnits == 799)
    }

    @Test func aDraftThatWasReadBeforeTheTimeDoesNotUndoTheChange() throws {
        let product = try #require(Self.decide(Self.scheduled()).written)
        var old = ProductRules.draft(of: product)
        old.isOnSale = false
        let changed = try #require(Self.decide(old, onto: product, at: Self.later).written)
        #expect(changed.prices[Builder.usa] == Self.much && !changed.isOnSale)
        // What is read after the time is sent back as it is.
        let read = ProductRules.draft(of: product.inForce(at: Self.later))
        #expect(
            Self.decide(read, onto: product, at: Self.later)
                == .unchanged(product.inForce(at: Self.later))
        )
    }

    @Test func anotherPriceBesideAChangeInForceIsRefused() throws {
        let product = try #require(Self.decide(Self.scheduled()).written)
        var draft = Self.scheduled()
        draft.prices[Builder.usa] = Builder.money(799, "USD")
        #expect(
            Self.decide(draft, onto: product, at: Self.later)
                == .refused(.pastPriceChange(Builder.premium, Builder.usa, from: Self.later))
        )
        // Without the change it is the price.
        draft.priceChanges = nil
        let set = try #require(Self.decide(draft, onto: product, at: Self.later).written)
        #expect(set.inForce(at: Self.later).prices[Builder.usa] == Builder.money(799, "USD"))
    }

    @Test func aPriceThatIsSetEndsTheChange() throws {
        let product = try #require(Self.decide(Self.scheduled()).written)
        let set = try #require(
            Self.decide(Builder.subscription(), onto: product, at: Self.later).written
        )
        #expect(set.inForce(at: Self.later).prices[Builder.usa] == Builder.money(499, "USD"))
        #expect(set.priceChanges.isEmpty)
    }

    @Test func aChangeInThePastIsRefused() throws {
        let past = Self.scheduled(from: Builder.now)
        #expect(
            Self.decide(past)
                == .refused(
                    .pastPriceChange(Builder.premium, Builder.usa, from: Builder.now)
                )
        )
        // The export of a store where it has happened is taken.
        var happened = past
        happened.prices[Builder.usa] = Self.much
        #expect(Self.decide(happened).written?.priceChanges.isEmpty == true)
    }

    @Test func aChangeToThePresentPriceIsRefused() {
        #expect(
            Self.decide(Self.scheduled(Builder.money(499, "USD")))
                == .refused(.samePriceChange(Builder.premium, Builder.usa))
        )
    }

    @Test func aRefusedChangeSaysWhatToDo() {
        let past = AdminRoutes.problem(
            for: .pastPriceChange(Builder.premium, Builder.usa, from: Builder.now)
        )
        #expect(past.code == "price_change_past")
        #expect("\(past)".hasSuffix("Name a later time, or set the price itself."))
        let same = AdminRoutes.problem(for: .samePriceChange(Builder.premium, Builder.usa))
        #expect(same.code == "price_change_none")
        #expect("\(same)".hasSuffix("costs this already. Leave the change out."))
    }

    @Test func aScheduledPriceThatIsNotAboveAnOfferIsNamed() throws {
        func problems(_ minorUnits: Int) throws -> [String] {
            let usd = #""currency": "USD""#
            let json = Builder.json(replacing: [
                "type": #""autoRenewableSubscription""#,
                "subscription": #"{"groupID": "club", "level": 1, "period": "P1M"}"#,
                "priceChanges":
                    #"{"USA": {"price": {"minorUnits": \#(minorUnits), \#(usd)}, "#
                    + #""from": 1801429175000}}"#,
                "introductoryOffer":
                    #"{"mode": "payAsYouGo", "period": "P1M", "#
                    + #""prices": {"USA": {"minorUnits": 199, \#(usd)}}}"#,
            ])
            return ProductDraftReader.read(try Builder.value(json), id: "club").problems
                .map(\.field)
        }
        #expect(try problems(200) == [])
        #expect(try problems(199) == ["priceChanges.USA.price"])
    }

    @Test(arguments: [
        (
            #"{"USA": {"price": {"minorUnits": 1, "currency": "EUR"}, "from": 1801429175000}}"#,
            "priceChanges.USA.price.currency is EUR, and the present price is in USD"
        ),
        (
            #"{"FRA": {"price": {"minorUnits": 1, "currency": "EUR"}, "from": 1801429175000}}"#,
            "priceChanges.FRA is a change of no price: give the storefront a price in prices"
        ),
        (
            #"{"USA": {"price": {"minorUnits": 1, "currency": "USD"}}}"#,
            "priceChanges.USA.from is missing"
        ),
        (
            #"{"USA": {"price": {"minorUnits": 1, "currency": "USD"}, "from": 1801429175000, "#
                + #""existingSubscribers": "raise"}}"#,
            "priceChanges.USA.existingSubscribers must not be raise: a nonConsumable has no "
                + "subscribers"
        ),
        (
            #"{"USA": {"price": {"minorUnits": 1, "currency": "USD"}, "from": 1801429175000, "#
                + #""existingSubscribers": "forget"}}"#,
            "priceChanges.USA.existingSubscribers is 'forget'; it must be preserve or raise"
        ),
        ("3", "priceChanges is a whole number, not an object"),
    ])
    func whatContradictsItselfIsNamed(changes: String, problem: String) throws {
        #expect(try Self.problems(changes) == [problem])
    }
}
