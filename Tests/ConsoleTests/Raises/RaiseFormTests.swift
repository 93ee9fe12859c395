import EventTypes
import OperatorCore
import StoreAPI
import Testing

@testable import Console

@Suite struct RaiseFormTests {
    private static let back = ConsoleProblem.Back(path: "/products/club/raise", words: "Back")

    private static let product = Product(
        id: ProductID(unchecked: "club"),
        version: 3,
        type: .autoRenewableSubscription,
        isOnSale: true,
        isRestorable: true,
        prices: [
            Storefront(unchecked: "USA"): Money(
                minorUnits: 349,
                currency: Currency(unchecked: "USD")
            )
        ],
        localizations: [:],
        deliveryPlan: [.entitlement]
    )

    private func work(_ text: String) throws -> RaiseWork {
        try RaiseForm(try #require(FormFields(text))).work(of: Self.product, back: Self.back)
    }

    @Test(arguments: [
        "storefront=FRA&amount=3.49", "storefront=USA&amount=", "storefront=USA&amount=3,49",
        "storefront=USA&amount=3.50", "storefront=USA&amount=0",
        "storefront=USA&amount=3.49&from=soon",
    ])
    func whatCannotBeMeantIsRefused(text: String) throws {
        #expect(throws: ConsoleProblem.self) { try work(text) }
    }

    @Test func whatIsAskedForIsRecordedAndNothingIsDone() throws {
        let work = try work("storefront=USA&amount=3.49&from=2027-06-30T22:00:00Z")
        #expect(work.productID == Self.product.id && work.storefront.rawValue == "USA")
        #expect(work.price == Money(minorUnits: 349, currency: Currency(unchecked: "USD")))
        #expect(work.effectiveAt == StoreTime("2027-06-30T22:00:00Z"))
        #expect(work.counted == nil && work.counts == SubscriptionRaise.Counts())
        #expect(try self.work("storefront=USA&amount=3.49&from=").effectiveAt == nil)
    }

    @Test func whoMayNotChangeProductsSeesNoForm() {
        func page(_ scopes: Set<AdministratorScope>, canRaise: Bool = true) -> String {
            RaiseFormPage(
                product: Self.product,
                records: [JobFolderInTests.raise()],
                visitor: .sample(scopes),
                canRaise: canRaise
            ).html.markup
        }
        let markup = page([.merchandiser, .read])
        #expect(markup.contains("Count them") && markup.contains("club in USA to 3.49 USD"))
        #expect(!page([.read]).contains("Count them"))
        let unset = page([.merchandiser, .read], canRaise: false)
        #expect(unset.contains("CONSOLE_STATE_DIRECTORY") && !unset.contains("Count them"))
    }
}
