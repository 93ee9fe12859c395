import EventTypes
import StoreAPI
import Testing

@testable import Catalog

@Suite struct ProductRulesTests {
    private func put(
        _ draft: ProductDraft,
        onto current: Product?,
        precondition: ProductRules.Precondition = .none
    ) -> ProductRules.Decision {
        ProductRules.decide(
            ProductRules.Edit(
                id: Builder.premium,
                wish: .put(draft),
                precondition: precondition
            ),
            current: current
        )
    }

    private func takeOffSale(_ current: Product?) -> ProductRules.Decision {
        ProductRules.decide(
            ProductRules.Edit(id: Builder.premium, wish: .takeOffSale),
            current: current
        )
    }

    @Test(arguments: [
        (ProductType.consumable, false, [DeliveryTarget.app]),
        (.nonConsumable, true, [.entitlement]),
        (.autoRenewableSubscription, true, [.entitlement]),
        (.nonRenewingSubscription, false, [.entitlement]),
    ])
    func theTypeDecidesWhatIsLeftOut(
        type: ProductType,
        isRestorable: Bool,
        plan: [DeliveryTarget]
    ) throws {
        let product = try #require(put(Builder.draft(type), onto: nil).written)
        #expect(product.version == 1 && product.isOnSale)
        #expect(product.isRestorable == isRestorable)
        #expect(product.deliveryPlan == plan)
        #expect(!product.isFamilyShareable)
    }

    @Test func aProductIsShareableWhereTheDraftSaysSo() throws {
        var draft = Builder.draft()
        draft.isFamilyShareable = true
        let product = try #require(put(draft, onto: nil).written)
        #expect(product.isFamilyShareable)
        #expect(ProductRules.draft(of: product).isFamilyShareable == true)
        // Its buyers have paid for the sharing, so it stays (rule S15).
        draft.isFamilyShareable = false
        #expect(put(draft, onto: product) == .refused(.sharingEnd(product.id)))
        draft.isFamilyShareable = nil
        #expect(put(draft, onto: product) == .unchanged(product))
    }

    @Test func aProductGivesTheEntitlementsOfItsDraft() throws {
        var draft = Builder.draft()
        draft.entitlements = [EntitlementName(unchecked: "pro")]
        let product = try #require(put(draft, onto: nil).written)
        #expect(product.entitlements == draft.entitlements)
        #expect(ProductRules.draft(of: product).entitlements == draft.entitlements)
        let changed = try #require(put(Builder.draft(), onto: product).written)
        #expect(changed.entitlements.isEmpty && changed.version == 2)
    }

    @Test func anExplicitWordGoesOverTheType() throws {
        let draft = Builder.draft(isOnSale: false, isRestorable: false, plan: [.app])
        let product = try #require(put(draft, onto: nil).written)
        #expect(!product.isOnSale && !product.isRestorable && product.deliveryPlan == [.app])
    }

    @Test func aChangeIsTheNextVersion() {
        let current = Builder.product(version: 4)
        guard case .changed(let product) = put(Builder.draft(cents: 599), onto: current) else {
            Issue.record("expected a change")
            return
        }
        #expect(product.version == 5)
        #expect(product.prices[Builder.usa] == Builder.money(599, "USD"))
    }

    @Test func theSameAgainIsNoVersion() {
        let current = Builder.product(version: 4)
        #expect(put(Builder.draft(), onto: current) == .unchanged(current))
        #expect(put(ProductRules.draft(of: current), onto: current) == .unchanged(current))
    }

    @Test func theTypeNeverChanges() {
        let current = Builder.product()
        #expect(
            put(Builder.draft(.consumable), onto: current)
                == .refused(
                    .typeChange(Builder.premium, from: .nonConsumable, to: .consumable)
                )
        )
    }

    @Test func aSubscriptionStaysInItsGroup() throws {
        let current = try #require(put(Builder.subscription(), onto: nil).written)
        let club = SubscriptionGroupID(unchecked: "club")
        #expect(
            put(Builder.subscription(group: "news"), onto: current)
                == .refused(
                    .groupChange(
                        Builder.premium,
                        from: club,
                        to: SubscriptionGroupID(unchecked: "news")
                    )
                )
        )
        #expect(
            put(Builder.draft(.autoRenewableSubscription), onto: current)
                == .refused(.groupChange(Builder.premium, from: club, to: nil))
        )
    }

    @Test func theLengthOfAPeriodNeverChanges() throws {
        let current = try #require(put(Builder.subscription(), onto: nil).written)
        let year = SubscriptionPeriod(1, .year)
        #expect(
            put(Builder.subscription(period: year), onto: current)
                == .refused(
                    .periodChange(
                        Builder.premium,
                        from: SubscriptionPeriod(1, .month),
                        to: year
                    )
                )
        )
    }

    @Test func theLevelOfASubscriptionMayChange() throws {
        let current = try #require(put(Builder.subscription(), onto: nil).written)
        let moved = try #require(put(Builder.subscription(level: 2), onto: current).written)
        #expect(moved.subscription?.level == 2 && moved.version == 2)
        #expect(put(ProductRules.draft(of: moved), onto: moved) == .unchanged(moved))
    }

    @Test func aSubscriptionWithoutTermsGetsThemOnce() throws {
        let plain = Builder.draft(.autoRenewableSubscription)
        let current = try #require(put(plain, onto: nil).written)
        let complete = try #require(put(Builder.subscription(), onto: current).written)
        #expect(complete.subscription == Builder.subscription().subscription)
    }

    @Test func takingOffSaleIsAVersionAndOnceOnly() throws {
        let current = Builder.product(version: 2)
        let gone = try #require(takeOffSale(current).written)
        #expect(!gone.isOnSale && gone.version == 3)
        #expect(takeOffSale(gone) == .unchanged(gone))
        #expect(takeOffSale(nil) == .refused(.unknown(Builder.premium)))
    }

    @Test func aProductComesBackOnSaleOnlyIfThatIsSaid() throws {
        let gone = try #require(takeOffSale(Builder.product()).written)
        #expect(put(Builder.draft(), onto: gone) == .unchanged(gone))
        let back = try #require(put(Builder.draft(isOnSale: true), onto: gone).written)
        #expect(back.isOnSale && back.version == 3)
    }

    @Test(arguments: [
        (ProductRules.Precondition.none, true, true), (.exists, true, false),
        (.isNew, false, true), (.isAt(versions: [2]), true, false),
        (.isAt(versions: [1, 2]), true, false), (.isAt(versions: [1, 3]), false, false),
        (.isAt(versions: []), false, false),
    ])
    func preconditionsHold(
        precondition: ProductRules.Precondition,
        atVersion2: Bool,
        ifNew: Bool
    ) {
        let draft = Builder.draft(cents: 599)
        let current = Builder.product(version: 2)
        #expect(
            (put(draft, onto: current, precondition: precondition).written != nil) == atVersion2
        )
        #expect((put(draft, onto: nil, precondition: precondition).written != nil) == ifNew)
        if !atVersion2 {
            #expect(
                put(draft, onto: current, precondition: precondition)
                    == .refused(.precondition(Builder.premium, currentVersion: 2))
            )
        }
    }

    @Test(
        arguments: [
            (nil, nil, ProductRules.Precondition.none), ("*", nil, .exists), (nil, "*", .isNew),
            ("\"3\"", nil, .isAt(versions: [3])), ("\"3\" , \"4\"", nil, .isAt(versions: [3, 4])),
            ("\"abc\"", nil, .isAt(versions: [])), ("3", nil, nil), ("W/\"3\"", nil, nil),
            (nil, "\"3\"", nil), ("\"3\"", "*", nil), ("", nil, nil),
        ] as [(String?, String?, ProductRules.Precondition?)]
    )
    func conditionalHeadersAreUnderstood(
        ifMatch: String?,
        ifNoneMatch: String?,
        precondition: ProductRules.Precondition?
    ) {
        #expect(Preconditions.ofChange(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch) == precondition)
    }

    @Test(
        arguments: [
            (nil, false), ("\"7\"", true), ("W/\"7\"", true), ("\"6\", \"7\"", true), ("*", true),
            ("\"6\"", false), ("7", false),
        ] as [(String?, Bool)]
    )
    func aTagThatTheClientHasIsFresh(ifNoneMatch: String?, isFresh: Bool) {
        #expect(Preconditions.isFresh(ifNoneMatch: ifNoneMatch, tag: "\"7\"") == isFresh)
    }

    @Test func changesReadBackFromTheirPayload() {
        let changes = ProductChanges([
            Builder.product(version: 3), Builder.product(Builder.coins, version: 12),
        ])
        #expect(changes.payload == "com.example.coins.100:12,com.example.premium:3")
        #expect(ProductChanges(payload: changes.payload) == changes)
    }

    @Test(arguments: ["", "a", "a:b", "a:1,b", "a b:1"])
    func aPayloadThatIsNotUnderstoodMeansAny(payload: String) {
        #expect(ProductChanges(payload: payload).versions == nil)
    }

    @Test func tooManyChangesForAPayloadMeanAny() {
        let products = (0..<500).map {
            Builder.product(ProductID(unchecked: "product.number.\($0)"))
        }
        #expect(ProductChanges(products).payload.isEmpty)
    }
}
