import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Operator
@testable import OperatorCore

@Suite struct StoreKitFileTests {
    private static let usa = Storefront(unchecked: "USA")

    private func read(
        _ json: String,
        storefront: Storefront? = nil,
        currency: Currency? = nil
    ) throws -> (content: StoreKitReader.Content, lines: [String]) {
        let content = try StoreKitReader.read(
            Data(json.utf8),
            storefront: storefront,
            currency: currency
        )
        return (content, content.notes.map(\.description))
    }

    private static func file(
        products: String = "[]",
        groups: String = "[]",
        settings: String = "{}"
    ) -> String {
        """
        {"identifier": "5AFE0001", "nonRenewingSubscriptions": [], "products": \(products),
         "settings": \(settings), "subscriptionGroups": \(groups),
         "version": {"major": 4, "minor": 0}}
        """
    }

    private static func product(_ members: String) -> String {
        #"[{"productID": "app.hats", "type": "NonConsumable", "displayPrice": "4.99"\#(members)}]"#
    }

    @Test func aFileOfVersion4IsRead() throws {
        let (content, lines) = try read(
            Self.file(
                products: Self.product(
                    """
                    , "familyShareable": true, "internalID": "1", "referenceName": "Hats",
                    "localizations": [
                      {"locale": "en_US", "displayName": "Hats", "description": "All hats."},
                      {"locale": "zh_Hans", "displayName": "帽子", "description": ""}]
                    """
                ),
                groups: """
                    [{"id": "21000001", "name": "club", "localizations": [], "subscriptions": [
                      {"productID": "app.club", "type": "RecurringSubscription", "groupNumber": 2,
                       "displayPrice": "2.99", "recurringSubscriptionPeriod": "P1M",
                       "subscriptionGroupID": "21000001", "introductoryOffer": null,
                       "adHocOffers": [], "codeOffers": [], "winbackOffers": [],
                       "familyShareable": false, "internalID": "2", "referenceName": "Club",
                       "localizations": [
                         {"locale": "en_US", "displayName": "Club", "description": "Monthly."}]}]}]
                    """,
                settings: #"{"_storefront": "USA", "_locale": "en_US", "_timeRate": 0}"#
            )
        )
        #expect(
            lines == [
                "taken: product app.hats as nonConsumable for 4.99 USD in USA",
                "not taken: group 21000001 has the name 'club', which the catalog does not keep",
                "taken: product app.club as autoRenewableSubscription for 2.99 USD in USA, P1M, "
                    + "level 2 of 21000001",
            ]
        )
        let hats = try #require(content.products[ProductID(unchecked: "app.hats")])
        #expect(hats.isFamilyShareable == true)
        #expect(hats.localizations.keys.map(\.rawValue).sorted() == ["en-US", "zh-Hans"])
        let club = try #require(content.products[ProductID(unchecked: "app.club")])
        #expect(
            club.subscription
                == SubscriptionTerms(
                    groupID: SubscriptionGroupID(unchecked: "21000001"),
                    level: 2,
                    period: SubscriptionPeriod(1, .month)
                )
        )
    }

    /// The members that each version has beside products and groups; a newer one may have others.
    private static let members = [
        (1, ""),
        (2, #""identifier": "5AFE0001", "settings": {},"#),
        (3, #""identifier": "5AFE0001", "nonRenewingSubscriptions": [], "settings": {},"#),
        (4, #""identifier": "5AFE0001", "nonRenewingSubscriptions": null, "settings": null,"#),
        (5, #""identifier": "5AFE0001","#),
    ]

    @Test(arguments: members)
    func olderFilesAreReadAndANewerOneIsReported(major: Int, members: String) throws {
        let offers = major < 2 ? "" : #""introductoryOffer": null, "adHocOffers": null,"#
        let hats = Self.product(#", "referenceName": "Hats""#)
        let (content, lines) = try read(
            """
            {\(members) "products": \(hats),
             "subscriptionGroups": [{"id": "club", "name": "club", "subscriptions": [
               {\(offers) "productID": "app.club", "type": "RecurringSubscription",
                "displayPrice": "2.99", "recurringSubscriptionPeriod": "P1M", "groupNumber": 1,
                "subscriptionGroupID": "club", "referenceName": "Club"}]}],
             "version": {"major": \(major), "minor": 0}}
            """
        )
        let newer = "changed: version is \(major); the file is read as version 4"
        let taken = [
            "changed: product app.hats has no texts; its title in en is 'Hats'",
            "taken: product app.hats as nonConsumable for 4.99 USD in USA",
            "changed: product app.club has no texts; its title in en is 'Club'",
            "taken: product app.club as autoRenewableSubscription for 2.99 USD in USA, P1M, "
                + "level 1 of club",
        ]
        #expect(lines == (major > 4 ? [newer] + taken : taken))
        let club = try #require(content.products[ProductID(unchecked: "app.club")])
        #expect(content.isUsable && club.introductoryOffer == nil && club.codeOffers == nil)
    }

    @Test(arguments: ["{}", #"{"products": null, "version": null, "settings": null}"#])
    func aFileWithoutMembersIsEmpty(json: String) throws {
        let (content, lines) = try read(json)
        #expect(content.products.isEmpty && lines.isEmpty && content.isUsable)
    }

    @Test func missingTextsComeFromTheReferenceName() throws {
        let (content, lines) = try read(
            Self.file(products: Self.product(#", "referenceName": "Hats", "localizations": null"#))
        )
        #expect(
            lines.first == "changed: product app.hats has no texts; its title in en is 'Hats'"
        )
        #expect(content.products.values.first?.localizations.values.map(\.title) == ["Hats"])
    }

    @Test(arguments: [
        ("P7D", "P1W", "changed: product app.club renews every P1W, written as P7D"),
        ("P12M", "P1Y", "changed: product app.club renews every P1Y, written as P12M"),
        ("monthly", nil, "wrong: product app.club has no recurringSubscriptionPeriod such as P1M"),
    ])
    func otherWordsForALengthAreReported(length: String, period: String?, line: String) throws {
        let (content, lines) = try read(
            Self.file(
                groups: """
                    [{"id": "club", "subscriptions": [{"productID": "app.club", "groupNumber": 1,
                      "displayPrice": "2.99", "recurringSubscriptionPeriod": "\(length)",
                      "referenceName": "Club"}]}]
                    """
            )
        )
        #expect(lines.contains(line))
        #expect(content.products.values.first?.subscription?.period.description == period)
        #expect(content.isUsable == (period != nil))
    }

    @Test(arguments: [
        ("4.99", "USD", 499), ("4.9", "USD", 490), ("4", "USD", 400), ("4.990", "USD", 499),
        ("30.00", "JPY", 30), ("1.500", "KWD", 1500), ("0", "USD", 0),
    ])
    func aPriceIsReadInItsCurrency(text: String, code: String, minorUnits: Int64) throws {
        let currency = Currency(unchecked: code)
        let file = Self.file(
            products: #"""
                [{"productID": "app.hats", "type": "Consumable", "displayPrice": "\#(text)"}]
                """#
        )
        let price = try read(file, currency: currency).content.products.values.first?.prices
        #expect(price == [Self.usa: Money(minorUnits: minorUnits, currency: currency)])
    }

    @Test(arguments: [
        (
            #"{"productID": "a b", "type": "Consumable"}"#,
            "product a b has no productID that is a product id of 1"
        ),
        (
            #"{"type": "Consumable"}"#,
            "product without an id has no productID that is a product id of 1"
        ),
        (#"{"productID": "p", "type": "Toy"}"#, "product p has a type that is not Consumable"),
        (#"{"productID": "p", "type": "Consumable"}"#, "product p has no displayPrice as a text"),
        (
            #"{"productID": "p", "type": "Consumable", "displayPrice": "4,99"}"#,
            "product p has the price '4,99'; in USD write it as 11.99"
        ),
        (
            #"{"productID": "p", "type": "Consumable", "displayPrice": "4.995"}"#,
            "product p has the price '4.995'"
        ),
    ])
    func aProductThatCannotBeUnderstoodIsWrong(product: String, line: String) throws {
        let (content, lines) = try read(Self.file(products: "[\(product)]"))
        #expect(!content.isUsable && content.products.isEmpty)
        #expect(lines.contains { $0.hasPrefix("wrong: " + line) }, "\(lines)")
    }

    @Test func fieldsThatCannotBeImportedAreReported() throws {
        let (content, lines) = try read(
            Self.file(
                groups: """
                    [{"id": "club", "name": "club", "localizations": [
                        {"locale": "en"}, {"locale": "", "displayName": "Club"},
                        {"locale": "fr", "displayName": "Le club", "description": "Tout."}],
                      "subscriptions": [{"productID": "app.club", "groupNumber": 1, "colour": "red",
                        "displayPrice": "2.99", "recurringSubscriptionPeriod": "P1M",
                        "localizations": [{"locale": "en", "displayName": "Club"}]}]}]
                    """,
                settings: """
                    {"_timeRate": 6, "_askToBuyEnabled": true, "_billingIssuesEnabled": false,
                     "_storeKitErrors": [{"name": "Purchase", "enabled": true},
                                         {"name": "Verification", "enabled": false}]}
                    """
            )
        )
        let follows = "'counterfoil test set ACCOUNT --storekit FILE' follows it"
        #expect(
            lines == [
                "not taken: group club has a name in '', which is not a locale",
                "not taken: group club has a description in fr, which the catalog does not keep",
                "taken: group club with its name in fr",
                "not taken: product app.club has colour, which is not a known member",
                "taken: product app.club as autoRenewableSubscription for 2.99 USD in USA, P1M, "
                    + "level 1 of club",
                "not taken: setting _askToBuyEnabled has purchases wait for a parent; \(follows)",
                "not taken: setting _storeKitErrors has the next 1000 charges declined; \(follows)",
                "not taken: setting _timeRate is 1s=1d; \(follows)",
            ]
        )
        #expect(content.isUsable)
    }

    @Test func aNamedGroupWithoutASubscriptionIsReported() throws {
        let names = #"[{"locale": "en", "displayName": "Club"}]"#
        let (content, lines) = try read(
            Self.file(groups: #"[{"id": "club", "localizations": \#(names)}]"#)
        )
        #expect(lines == ["not taken: group club has names, but no subscription"])
        #expect(content.groups.isEmpty)
    }

    private static func club(_ offer: String) -> String {
        file(
            groups: """
                [{"id": "club", "subscriptions": [{"productID": "app.club", "groupNumber": 1,
                  "displayPrice": "2.99", "recurringSubscriptionPeriod": "P1M",
                  "introductoryOffer": \(offer),
                  "localizations": [{"locale": "en", "displayName": "Club"}]}]}]
                """
        )
    }

    @Test(arguments: [
        (
            #"{"paymentMode": "free", "subscriptionPeriod": "P7D", "displayPrice": null}"#,
            "freeTrial, 1 times P1W, 0.00 USD"
        ),
        (
            #"{"paymentMode": "payAsYouGo", "numberOfPeriods": 3, "displayPrice": "0.99"}"#,
            "payAsYouGo, 3 times P1M, 0.99 USD"
        ),
        (
            #"{"paymentMode": "payUpFront", "subscriptionPeriod": "P3M", "displayPrice": "4.99"}"#,
            "payUpFront, 1 times P3M, 4.99 USD"
        ),
    ])
    func anIntroductoryOfferIsReadAndWritten(offer: String, text: String) throws {
        let (content, lines) = try read(Self.club(offer))
        #expect(
            lines.first == "taken: product app.club with an introductory offer: " + text
        )
        let terms = try #require(content.products.values.first?.introductoryOffer)
        let written = try StoreKitWriter.write(
            CatalogDocument(products: content.products),
            in: Self.usa
        )
        #expect(
            try StoreKitReader.read(written.file).products.values.first?.introductoryOffer == terms
        )
    }

    @Test(arguments: [
        (#""free""#, "that is not an object"),
        (#"{"paymentMode": "barter"}"#, "with the paymentMode 'barter'"),
        (#"{"paymentMode": "free"}"#, "without a subscriptionPeriod such as P1W"),
    ])
    func anIntroductoryOfferThatCannotBeReadIsWrong(offer: String, problem: String) throws {
        let (content, lines) = try read(Self.club(offer))
        #expect(!content.isUsable)
        #expect(
            lines.contains("wrong: product app.club has an introductoryOffer " + problem),
            "\(lines)"
        )
    }

    @Test func anImportKeepsTheOffersOfOtherStorefronts() throws {
        let offer = #"{"paymentMode": "payAsYouGo", "numberOfPeriods": 3, "displayPrice": "0.99"}"#
        let content = try read(Self.club(offer)).content
        let id = ProductID(unchecked: "app.club")
        let france = Storefront(unchecked: "FRA")
        let euros = Money(minorUnits: 89, currency: Currency(unchecked: "EUR"))
        var current = try #require(content.products[id])
        current.introductoryOffer?.prices = [france: euros]
        func merged(_ file: StoreKitReader.Content) -> OfferTerms? {
            StoreKitMerge.document(file, onto: CatalogDocument(products: [id: current]))
                .products[id]?.introductoryOffer
        }
        #expect(merged(content)?.prices.count == 2)
        // A file without an offer ends it in the file's storefront alone.
        #expect(merged(try read(Self.club("null")).content) == current.introductoryOffer)
        current.introductoryOffer = content.products[id]?.introductoryOffer
        #expect(merged(try read(Self.club("null")).content) == nil)
        // Another offer replaces it.
        let trial = #"{"paymentMode": "free", "subscriptionPeriod": "P1W"}"#
        #expect(merged(try read(Self.club(trial)).content)?.mode == .freeTrial)
    }

    @Test func aStorefrontWithoutAKnownCurrencyNeedsOne() throws {
        let file = Self.file(settings: #"{"_storefront": "KWT"}"#)
        #expect(throws: OperatorError.self) { try read(file) }
        let content = try read(file, currency: Currency(unchecked: "KWD")).content
        #expect(content.storefront.rawValue == "KWT")
    }

    @Test func anImportKeepsWhatTheFileCannotKnow() throws {
        let id = ProductID(unchecked: "app.hats")
        let content = try read(Self.file(products: Self.product(#", "referenceName": "Hats""#)))
            .content
        let euros = Money(minorUnits: 549, currency: Currency(unchecked: "EUR"))
        let dollars = Money(minorUnits: 399, currency: Currency(unchecked: "USD"))
        let france = Storefront(unchecked: "FRA")
        let current = ProductDraft(
            type: .nonConsumable,
            isOnSale: false,
            isRestorable: false,
            prices: [france: euros, Self.usa: dollars],
            localizations: [:],
            deliveryPlan: [.app]
        )
        let document = StoreKitMerge.document(
            content,
            onto: CatalogDocument(products: [id: current])
        )
        let merged = try #require(document.products[id])
        #expect(merged.prices[france] == euros && merged.prices[Self.usa]?.minorUnits == 499)
        #expect(merged.isOnSale == nil, "the catalog leaves alone what is not named")
        #expect(merged.isFamilyShareable == nil, "a product that is shareable stays so")
        #expect(merged.isRestorable == false)
        #expect(merged.deliveryPlan == [.app])
    }

    @Test func whatIsWrittenReadsBack() throws {
        let dollars = Money(minorUnits: 499, currency: Currency(unchecked: "USD"))
        let texts = [LanguageTag(unchecked: "en-US"): ProductText(title: "T", description: "D")]
        func draft(_ type: ProductType, _ terms: SubscriptionTerms? = nil) -> ProductDraft {
            ProductDraft(
                type: type,
                isFamilyShareable: type == .nonConsumable,
                prices: [Self.usa: dollars],
                localizations: texts,
                subscription: terms
            )
        }
        let terms = SubscriptionTerms(
            groupID: SubscriptionGroupID(unchecked: "club"),
            level: 3,
            period: SubscriptionPeriod(6, .month)
        )
        let products = [
            ProductID(unchecked: "app.coins"): draft(.consumable),
            ProductID(unchecked: "app.hats"): draft(.nonConsumable),
            ProductID(unchecked: "app.season"): draft(.nonRenewingSubscription),
            ProductID(unchecked: "app.club"): draft(.autoRenewableSubscription, terms),
        ]
        let names = [
            LanguageTag(unchecked: "en-US"): SubscriptionGroupText(name: "The club"),
            LanguageTag(unchecked: "zh-Hans"): SubscriptionGroupText(name: "俱乐部"),
        ]
        let groups = [terms.groupID: SubscriptionGroupDraft(localizations: names)]
        let document = CatalogDocument(products: products, subscriptionGroups: groups)
        let (file, notes) = try StoreKitWriter.write(document, in: Self.usa)
        #expect(notes.isEmpty)
        #expect(try StoreKitWriter.write(document, in: Self.usa).file == file)
        let content = try StoreKitReader.read(file)
        #expect(content.products == products)
        #expect(content.groups == groups)
        #expect(StoreKitMerge.document(content, onto: document).subscriptionGroups == groups)
        #expect(content.notes.allSatisfy { $0.outcome == .taken }, "\(content.notes)")
        let elsewhere = try StoreKitWriter.write(document, in: Storefront(unchecked: "FRA"))
        #expect(elsewhere.notes.count == 4)
        #expect(
            elsewhere.notes.first?.description
                == "not taken: product app.club has no price in FRA"
        )
    }
}
