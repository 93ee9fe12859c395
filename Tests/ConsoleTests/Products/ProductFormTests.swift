import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct ProductFormTests {
    private static let product = Product(
        id: ProductID(unchecked: "com.example.coins"),
        version: 3,
        type: .consumable,
        isOnSale: true,
        isRestorable: false,
        prices: [
            Storefront(unchecked: "USA"): Money(
                minorUnits: 99,
                currency: Currency(unchecked: "USD")
            ),
            Storefront(unchecked: "JPN"): Money(
                minorUnits: 150,
                currency: Currency(unchecked: "JPY")
            ),
        ],
        localizations: [
            LanguageTag(unchecked: "en-US"): ProductText(title: "Coins", description: "A <hundred>")
        ],
        deliveryPlan: [.app]
    )

    private func form(_ edit: (inout ProductForm) -> Void) -> ProductForm {
        var form = ProductForm(Self.product)
        edit(&form)
        return form
    }

    private func lines(_ form: ProductForm) -> [String] {
        ProductDifference(from: Self.product, to: form.wish(for: Self.product).wish).lines
            .map { "\($0.part): \($0.old) → \($0.new)" }
    }

    @Test func aFormThatIsNotTouchedChangesNothing() {
        #expect(lines(form { _ in }).isEmpty)
    }

    @Test func aTextOfSeveralLinesIsKeptAsItWasWritten() throws {
        let sent = try #require(FormFields("version=3&description.en-US=One%0D%0Atwo"))
        let form = try #require(ProductForm(sent))
        #expect(form.descriptions["en-US"] == "One\ntwo")
        // The page with the difference hands it on in a field that nobody sees.
        let fields = HTML(HTML.hidden(form.fields)).markup
        #expect(fields.contains("value=\"One\ntwo\""))
    }

    @Test func eachChangeIsALineOfTheDifference() {
        let form = form {
            $0.isOnSale = false
            $0.prices["USA"] = "1.29"
            $0.prices["JPN"] = ""
            $0.titles["en-US"] = "Gold"
            $0.addition = .init(storefront: "deu", amount: "1.19", currency: "eur")
        }
        #expect(form.wish(for: Self.product).problems.isEmpty)
        #expect(
            lines(form) == [
                "on sale: yes → no", "price in DEU: not sold → 1.19 EUR",
                "price in JPN: 150 JPY → not sold", "price in USA: 0.99 USD → 1.29 USD",
                "title in en-US: Coins → Gold",
            ]
        )
    }

    @Test func whatCannotBeMeantIsAProblem() {
        let form = form {
            $0.prices["USA"] = "1.299"
            $0.titles["en-US"] = ""
            $0.addition = .init(storefront: "USA", amount: "1", currency: "USD")
        }
        #expect(form.wish(for: Self.product).problems.count == 3)
    }

    @Test func aFormSurvivesBeingSent() throws {
        let form = form {
            $0.prices["USA"] = "no & price"
            $0.descriptions["en-US"] = "two\nlines"
        }
        let body = PlainWords.query(form.fields)
        #expect(ProductForm(try #require(FormFields(body))) == form)
    }

    @Test func whoIsTooLateKeepsTheirTextAndSeesTheDifference() {
        let form = form {
            $0.version = 2
            $0.prices["USA"] = "1.29"
            $0.descriptions["en-US"] = "A <thousand>"
        }
        let page = ProductPage(
            product: Self.product,
            form: form,
            visitor: .sample([.merchandiser]),
            occasion: .changedMeanwhile
        ).html.markup
        #expect(page.contains("Somebody changed the product meanwhile"))
        #expect(page.contains("name=\"version\" value=\"3\""))
        #expect(page.contains("name=\"price.USA\" value=\"1.29\""))
        #expect(page.contains("A &lt;thousand&gt;") && !page.contains("<thousand>"))
        #expect(page.contains("<del>0.99 USD</del>") && page.contains("<ins>1.29 USD</ins>"))
    }

    @Test func aPriceThatNobodyTouchedIsNotPutBack() {
        // The scheduled price has come into force since the form was opened, at the same version.
        var product = Self.product
        let usa = Storefront(unchecked: "USA")
        product.prices[usa] = Money(minorUnits: 129, currency: Currency(unchecked: "USD"))
        let untouched = form { $0.titles["en-US"] = "Gold" }
        #expect(untouched.isCurrent(for: product))
        #expect(untouched.wish(for: product).wish.prices == product.prices)
        let touched = form { $0.prices["USA"] = "1.19" }
        #expect(!touched.isCurrent(for: product))
        let page = ProductPage(
            product: product,
            form: untouched,
            visitor: .sample([.merchandiser])
        ).html.markup
        #expect(page.contains("name=\"price.USA\" value=\"1.29\""))
        #expect(page.contains("name=\"was.price.USA\" value=\"1.29\""))
    }

    @Test func aNewPriceShowsThatItEndsTheScheduledOne() {
        var product = Self.product
        let usd = Currency(unchecked: "USD")
        product.priceChanges[Storefront(unchecked: "USA")] = PriceChange(
            price: Money(minorUnits: 129, currency: usd),
            from: StoreTime(millisecondsSinceEpoch: 1_801_429_175_000),
            existingSubscribers: .raise
        )
        var form = ProductForm(product)
        func parts() -> [String] {
            ProductDifference(from: product, to: form.wish(for: product).wish).lines.map(\.part)
        }
        #expect(parts().isEmpty)
        form.prices["USA"] = "1.19"
        #expect(parts() == ["price in USA", "scheduled price in USA"])
        let page = ProductPage(product: product, form: form, visitor: .sample([.read])).html.markup
        #expect(page.contains("scheduled price in USA") && page.contains("1.29 USD from"))
    }

    @Test func whoOnlyReadsSeesNoForm() {
        let page = ProductPage(
            product: Self.product,
            form: ProductForm(Self.product),
            visitor: .sample([.read])
        ).html.markup
        #expect(!page.contains("class=\"editor\"") && page.contains("0.99 USD"))
    }

    @Test func aSavedPriceKeepsFieldsThatAreUnknown() throws {
        let answer = """
            {"id": "a", "version": 3, "type": "consumable", "isOnSale": true, "new": [1],
             "isRestorable": false, "deliveryPlan": [],
             "localizations": {"en-US": {"title": "A", "description": "B", "hint": "C"}},
             "prices": {"USA": {"minorUnits": 99, "currency": "USD", "tier": 1}}}
            """
        let edit = try ProductEdit(Data(answer.utf8))
        var form = ProductForm(edit.product)
        form.titles["en-US"] = "Z"
        form.prices["USA"] = "1.29"
        let draft = try edit.draft(form.wish(for: edit.product).wish)
        let sent = try JSONSerialization.jsonObject(with: draft) as? NSDictionary
        let expected = """
            {"type": "consumable", "isOnSale": true, "new": [1], "isRestorable": false,
             "deliveryPlan": [],
             "localizations": {"en-US": {"title": "Z", "description": "B", "hint": "C"}},
             "prices": {"USA": {"minorUnits": 129, "currency": "USD", "tier": 1}}}
            """
        let wanted = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        #expect(sent == wanted)
    }

    @Test func theUnitsOfACreditAreChangedAndNothingElseOfThePlan() throws {
        let answer = """
            {"id": "a", "version": 3, "type": "consumable", "isOnSale": true, "isRestorable": false,
             "localizations": {}, "prices": {}, "deliveryPlan": [{"kind": "app"},
             {"kind": "credit", "unit": "coins", "amount": 100, "new": 1}]}
            """
        let edit = try ProductEdit(Data(answer.utf8))
        var form = ProductForm(edit.product)
        #expect(form.fields.contains { $0 == ("credit.coins", "100") })
        form.credits["coins"] = "120"
        // A unit that the product does not credit is passed by.
        form.credits["gems"] = "5"
        let wish = form.wish(for: edit.product)
        #expect(wish.problems.isEmpty)
        let difference = ProductDifference(from: edit.product, to: wish.wish).lines
        #expect(difference.map(\.part) == ["coins for each one bought"])
        #expect(difference.map(\.new) == ["120"])
        let draft = try edit.draft(wish.wish)
        let sent = try JSONSerialization.jsonObject(with: draft) as? NSDictionary
        let expected = """
            {"type": "consumable", "isOnSale": true, "isRestorable": false, "localizations": {},
             "prices": {}, "deliveryPlan": [{"kind": "app"},
             {"kind": "credit", "unit": "coins", "amount": 120, "new": 1}]}
            """
        let wanted = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        #expect(sent == wanted)
        for text in ["", "0", "-1", "1.5", "many"] {
            form.credits["coins"] = text
            #expect(form.wish(for: edit.product).problems.count == 1, "\(text)")
        }
        form.credits = [:]
        #expect(form.wish(for: edit.product).wish == ProductWish(edit.product))
    }
}
