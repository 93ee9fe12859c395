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

    private func form(_ text: String) throws -> RaiseForm {
        RaiseForm(try #require(FormFields(text)))
    }

    @Test(arguments: [
        "storefront=FRA&amount=3.49", "storefront=USA&amount=", "storefront=USA&amount=3,49",
        "storefront=USA&amount=3.50", "storefront=USA&amount=0",
        "storefront=USA&amount=3.49&from=soon",
    ])
    func whatCannotBeMeantIsRefused(text: String) throws {
        let form = try form(text)
        #expect(throws: ConsoleProblem.self) { try form.raise(of: Self.product, back: Self.back) }
    }

    @Test func eachStepCarriesTheNumbersAndThePlace() throws {
        var form = try form("storefront=USA&amount=3.49&step=raise&after=7&raised=2&others=1")
        _ = try form.raise(of: Self.product, back: Self.back)
        form.counts = form.counts + SubscriptionRaise.Counts(raised: 3, waiting: 1)
        let again = try self.form(PlainWords.query(form.fields))
        #expect(again == form)
        #expect(again.counts == SubscriptionRaise.Counts(raised: 5, others: 1, waiting: 1))
        let page = RaisePage(
            product: Self.product,
            form: form,
            stage: .going,
            seal: "mark",
            visitor: .sample([.merchandiser])
        ).html.markup
        for part in [
            "data-continues", "name=\"after\" value=\"7\"", "value=\"raise\"", "csrf", "mark",
        ] {
            #expect(page.contains(part), "\(part)")
        }
    }

    @Test func nobodyIsRaisedBeforeTheirNumberIsTyped() throws {
        let form = try form("storefront=USA&amount=3.49&raised=12")
        func page(_ form: RaiseForm) -> String {
            RaisePage(
                product: Self.product,
                form: form,
                stage: .counted,
                seal: "mark",
                visitor: .sample([.merchandiser])
            ).html.markup
        }
        let markup = page(form)
        #expect(markup.contains("Type the number of subscriptions, 12"))
        #expect(markup.contains("name=\"reason\"") && !markup.contains("data-continues"))
        #expect(!page(RaiseForm()).contains("<dialog"))
    }

    @Test func aFormGoesOnOnlyFromWhereItWas() throws {
        let seal = RaiseSeal()
        let id = Self.product.id
        let visitor = Visitor.sample([.merchandiser])
        var form = try form("storefront=USA&amount=3.49&step=raise&after=7&raised=2")
        let mark = seal.text(of: form, id, visitor)
        #expect(!form.isFirst && seal.isOf(form, id, visitor, mark))
        #expect(!seal.isOf(form, ProductID(unchecked: "other"), visitor, mark))
        #expect(!RaiseSeal().isOf(form, id, visitor, mark), "another console has another key")
        form.after = "9"
        #expect(!seal.isOf(form, id, visitor, mark))
        let first = try self.form("storefront=USA&amount=3.49")
        #expect(first.isFirst)
    }
}
