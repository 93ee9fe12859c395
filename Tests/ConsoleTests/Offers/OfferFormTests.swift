import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct OfferFormTests {
    private static let usa = Storefront(unchecked: "USA")

    private static func usd(_ cents: Int64) -> Money {
        Money(minorUnits: cents, currency: Currency(unchecked: "USD"))
    }

    private static func terms(_ cents: Int64) -> OfferTerms {
        OfferTerms(
            mode: .freeTrial,
            period: SubscriptionPeriod(1, .week),
            prices: [usa: usd(cents)]
        )
    }

    private static func product() -> Product {
        var product = Product(
            id: ProductID(unchecked: "club"),
            version: 3,
            type: .autoRenewableSubscription,
            isOnSale: true,
            isRestorable: true,
            prices: [usa: usd(299)],
            localizations: [
                LanguageTag(unchecked: "en"): ProductText(title: "Club", description: "")
            ],
            deliveryPlan: [.entitlement]
        )
        product.introductoryOffer = terms(0)
        product.promotionalOffers = [
            PromotionalOffer(id: OfferID(unchecked: "back"), terms: terms(99)),
            PromotionalOffer(id: OfferID(unchecked: "stay"), terms: terms(99)),
        ]
        product.codeOffers = [
            CodeOffer(id: OfferID(unchecked: "leaflet"), customers: [.new], terms: terms(0))
        ]
        product.winBackOffers = [
            WinBackOffer(
                id: OfferID(unchecked: "miss"),
                monthsSinceEndMax: 12,
                endsAt: StoreTime(millisecondsSinceEpoch: 1_800_000_000_000),
                terms: terms(0)
            )
        ]
        return product
    }

    private static func form(_ kind: OfferKind, _ id: String = "") -> OfferForm {
        let product = product()
        let offer = OfferDraft.all(kind, of: ProductOffers(product))
            .first { ($0.id?.rawValue ?? "") == id }
        return OfferForm(offer, kind, of: product)
    }

    private static func lines(_ form: OfferForm) -> [String] {
        OfferWords.difference(
            from: form.old(in: product()),
            to: form.wish(for: product()).offer
        ).lines.map { "\($0.part): \($0.old) → \($0.new)" }
    }

    @Test(arguments: [
        (OfferKind.introductory, ""), (.promotional, "back"), (.code, "leaflet"),
        (.winBack, "miss"),
    ])
    func aFormThatIsNotTouchedChangesNothing(kind: OfferKind, id: String) throws {
        let form = Self.form(kind, id)
        #expect(Self.lines(form).isEmpty)
        #expect(form.offers(of: Self.product()) == ProductOffers(Self.product()))
        // A browser sends the same back.
        let text = PlainWords.query(form.fields)
        #expect(OfferForm(try #require(FormFields(text)), kind) == form)
    }

    @Test func eachChangeIsALineOfTheDifference() {
        var form = Self.form(.code, "leaflet")
        form.isActive = false
        form.customers = ["new", "expired"]
        form.mode = "payAsYouGo"
        form.periods = "3"
        form.prices["USA"] = "0.99"
        #expect(
            Self.lines(form) == [
                "can be had: yes → no",
                "for: accounts that never had a subscription in the group → accounts that never had "
                    + "a subscription in the group, accounts whose subscription has ended",
                "how it is paid: free → a lower price, paid for each period", "periods: 1 → 3",
                "price in USA: 0.00 USD → 0.99 USD",
            ]
        )
        let offers = form.offers(of: Self.product())
        #expect(offers.codes.map(\.isActive) == [false])
        #expect(offers.promotional == Self.product().promotionalOffers)
    }

    @Test func whoMayHaveAWinBackOfferCanBeChanged() {
        var form = Self.form(.winBack, "miss")
        form.winBack.isHigh = true
        (form.winBack.paid, form.winBack.sinceMax, form.winBack.wait) = ("6", "", "2")
        #expect(
            Self.lines(form) == [
                "comes first: no → yes", "months paid for at least: 1 → 6",
                "months since the end at most: 12 → any",
                "months since the last win-back at least: any → 2",
            ]
        )
        let offer = form.offers(of: Self.product()).winBacks.first
        #expect(offer?.priority == .high && offer?.paidMonths == 6 && offer?.waitMonths == 2)
        #expect(offer?.endsAt == Self.product().winBackOffers.first?.endsAt)
        form.winBack.wait = "two"
        #expect(
            form.wish(for: Self.product()).problems == ["“two” is not a number of months."]
        )
        form.isRemoved = true
        #expect(form.offers(of: Self.product()).winBacks.isEmpty)
    }

    @Test func aNewOfferComesLastAndOthersStay() {
        var form = Self.form(.promotional, "none")
        form.id = "again"
        form.prices = ["USA": "0"]
        let offers = form.offers(of: Self.product())
        #expect(offers.promotional.map(\.id.rawValue) == ["back", "stay", "again"])
        #expect(offers.codes == Self.product().codeOffers)
        #expect(Self.lines(form).first == "offer: none → again")
    }

    @Test func aRemovedOfferIsGoneAndNoOther() {
        var form = Self.form(.promotional, "back")
        form.isRemoved = true
        #expect(Self.lines(form).first == "offer: back → none")
        #expect(form.offers(of: Self.product()).promotional.map(\.id.rawValue) == ["stay"])
        var other = Self.form(.introductory)
        other.isRemoved = true
        #expect(other.offers(of: Self.product()).introductory == nil)
    }

    @Test func whatCannotBeReadIsSaid() {
        var form = Self.form(.code, "leaflet")
        form.prices["USA"] = "1,00"
        #expect(form.wish(for: Self.product()).problems.count == 1)
        form.period = "a month"
        #expect(form.wish(for: Self.product()).problems.count == 1)
        form.period = "P1M"
        form.periods = "0"
        #expect(form.wish(for: Self.product()).problems.count == 1)
        var other = Self.form(.promotional, "none")
        other.id = "a b"
        #expect(other.wish(for: Self.product()).problems == ["The id is \(OfferID.form)."])
    }

    @Test func whatThisVersionDoesNotKnowStays() throws {
        let text = """
            {"id": "club", "version": 3, "type": "autoRenewableSubscription", "isOnSale": true,
             "isRestorable": true, "prices": {"USA": {"minorUnits": 299, "currency": "USD"}},
             "localizations": {}, "deliveryPlan": [], "later": 1,
             "subscription": {"groupID": "club", "level": 1, "period": "P1M"},
             "codeOffers": [{"id": "leaflet", "mode": "freeTrial", "period": "P1W", "later": 2,
             "prices": {"USA": {"minorUnits": 0, "currency": "USD"}}}]}
            """
        let edit = try ProductEdit(Data(text.utf8))
        var form = OfferForm(nil, .introductory, of: edit.product)
        form.prices = ["USA": "0"]
        let data = try edit.draft(form.offers(of: edit.product))
        let draft = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(draft["later"] as? Int == 1 && draft["version"] == nil)
        let codes = try #require(draft["codeOffers"] as? [[String: Any]])
        #expect(codes.count == 1 && codes[0]["later"] as? Int == 2)
        #expect((draft["introductoryOffer"] as? [String: Any])?["mode"] as? String == "freeTrial")
    }

    @Test func aConditionThatIsEmptiedIsSentNoMore() throws {
        let edit = try ProductEdit(try JSONEncoder().encode(Self.product()))
        var form = Self.form(.winBack, "miss")
        form.winBack.sinceMax = ""
        let data = try edit.draft(
            form.offers(of: edit.product),
            because: ActReason(rawValue: "too dear")
        )
        let draft = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(draft["reason"] as? String == "too dear")
        let offer = try #require((draft["winBackOffers"] as? [[String: Any]])?.first)
        #expect(offer["monthsSinceEndMax"] == nil && offer["endsAt"] as? Int == 1_800_000_000_000)
    }

    @Test func theListHasThemAllAndOnlyMerchandisersChangeThem() {
        let list = OfferListPage(product: Self.product(), visitor: .sample([.merchandiser]))
            .html.markup
        for part in [
            "/products/club/offers/introductory\"", "/products/club/offers/promotional?id=back",
            "/products/club/offers/code?id=leaflet", "Add a code offer",
            "href=\"/codes?product=club&amp;offer=leaflet\">Make codes of leaflet</a>",
            "/products/club/offers/winBack?id=miss", "Add a win-back offer",
            "<dt>ends</dt><dd>2027-01-15 08:00:00</dd>",
        ] { #expect(list.contains(part), "\(part)") }
        #expect(!list.contains("Add an introductory offer"))
        let read = OfferListPage(product: Self.product(), visitor: .sample([.read])).html.markup
        #expect(read.contains("leaflet") && !read.contains("Change ") && !read.contains("Add "))
        #expect(list.components(separatedBy: "/codes?").count == 2, "only codes are made of codes")
        #expect(!read.contains("/codes?"))
    }
}
