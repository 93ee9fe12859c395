import EventTypes
import Testing

@testable import PaymentQueue

@Suite struct AccountStateTests {
    private func account(
        _ version: Int,
        storefront: String? = nil,
        intents: [Int] = []
    ) -> Account {
        let time = StoreTime(millisecondsSinceEpoch: 0)
        return Account(
            accountID: AccountID(unchecked: "ada"),
            bundleID: BundleID(unchecked: "com.example.app"),
            version: version,
            storefront: storefront.map { EventTypes.Storefront(unchecked: $0) },
            purchaseIntents: intents.map {
                PurchaseIntent(
                    id: PurchaseIntentID(unchecked: "intent-\($0)"),
                    productID: ProductID(unchecked: "hint"),
                    quantity: 1,
                    createdAt: time
                )
            }
        )
    }

    private func state(configured storefront: String = "USA") -> AccountState {
        AccountState(configured: EventTypes.Storefront(unchecked: storefront))
    }

    @Test func aStorefrontThatIsConfiguredIsNoNewsAtLaunch() {
        var state = state(configured: "FRA")
        #expect(!state.take(account(7, storefront: "FRA")).hasNewStorefront)
        #expect(!state.take(storefront: EventTypes.Storefront(unchecked: "FRA")).hasNewStorefront)
        #expect(state.take(account(8, storefront: "DEU")).hasNewStorefront)
    }

    @Test func aStorefrontOtherThanTheConfiguredIsNewsAtLaunch() {
        var state = state(configured: "USA")
        #expect(state.storefront?.rawValue == "USA")
        #expect(state.take(account(7, storefront: "FRA")).hasNewStorefront)
        #expect(!state.take(account(7, storefront: "FRA")).hasNewStorefront)
        // The store says nothing any more: what the app itself said holds again.
        #expect(state.take(account(8)).hasNewStorefront)
        #expect(state.storefront?.rawValue == "USA")
    }

    @Test func aStorefrontIsNewsOnceHoweverItIsHeardOf() {
        var state = state()
        #expect(!state.take(account(1)).hasNewStorefront)
        #expect(state.take(storefront: EventTypes.Storefront(unchecked: "FRA")).hasNewStorefront)
        #expect(state.storefront?.rawValue == "FRA")
        #expect(!state.take(account(2, storefront: "FRA")).hasNewStorefront)
        #expect(!state.take(storefront: EventTypes.Storefront(unchecked: "FRA")).hasNewStorefront)
        #expect(state.take(account(3, storefront: "USA")).hasNewStorefront)
    }

    @Test func anOlderVersionChangesNothing() {
        var state = state()
        _ = state.take(account(3, storefront: "USA"))
        let news = state.take(account(2, storefront: "FRA", intents: [1]))
        #expect(!news.hasNewStorefront && news.intents.isEmpty)
        #expect(state.storefront?.rawValue == "USA")
    }

    @Test func eachIntentIsOfferedOnce() {
        var state = state()
        #expect(state.take(account(1, intents: [1])).intents.count == 1)
        #expect(state.take(account(1, intents: [1])).intents.isEmpty)
        #expect(state.take(account(2, intents: [1, 2])).intents.map(\.id.rawValue) == ["intent-2"])
    }
}
