import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import Catalog

@Suite struct ProductDraftReaderTests {
    private func read(
        _ json: String,
        id: String = "com.example.premium"
    ) throws -> (product: (id: ProductID, draft: ProductDraft)?, problems: [String]) {
        let read = ProductDraftReader.read(try Builder.value(json), id: id)
        return (read.product, read.problems.map(\.description))
    }

    @Test func aProductReadsAsItsTypeDoes() throws {
        let json = Builder.json(replacing: [
            "isOnSale": "false", "isRestorable": "null", "isFamilyShareable": "true",
            "reason": #""It is new.""#,
            "deliveryPlan": """
            [{"kind": "entitlement"}, {"kind": "credit", "unit": "coins", "amount": 100},
             {"kind": "webhook", "url": "https://merchant.example/hook?a=b"}, {"kind": "app"}]
            """,
        ])
        let draft = try #require(try read(json).product?.draft)
        #expect(draft == (try JSONDecoder().decode(ProductDraft.self, from: Data(json.utf8))))
        #expect(draft.deliveryPlan?.count == 4 && draft.isOnSale == false)
    }

    @Test(arguments: [
        ("type", #""lootBox""#, "type is 'lootBox'; it must be one of"),
        ("type", "3", "type is a whole number, not a text"),
        ("type", nil, "type is missing"),
        ("isOnSale", "1", "isOnSale is a whole number, not true or false"),
        ("reason", #"" ""#, "reason is not a reason of 1 to 500 characters"),
        ("reason", "3", "reason is a whole number, not a text"),
        (
            "reason", #""paid by 4242 4242 4242 4242""#,
            "reason has the number of a card in it"
        ),
        ("isRestorable", #""yes""#, "isRestorable is a text, not true or false"),
        (
            "isFamilyShareable", #""yes""#,
            "isFamilyShareable is a text, not true or false"
        ),
        ("prices", nil, "prices is missing"),
        ("prices", "[]", "prices is an array, not an object"),
        ("prices", "{}", "prices must hold at least one price"),
        (
            "prices", #"{"US": {"minorUnits": 1, "currency": "USD"}}"#,
            "prices.US is not an ISO 3166-1 alpha-3 storefront"
        ),
        (
            "prices", #"{"USA": {"minorUnits": -1, "currency": "USD"}}"#,
            "prices.USA.minorUnits is -1; it must be from 0 to 100000000000"
        ),
        (
            "prices", #"{"USA": {"minorUnits": 100000000001, "currency": "USD"}}"#,
            "prices.USA.minorUnits is 100000000001"
        ),
        (
            "prices", #"{"USA": {"minorUnits": 4.99, "currency": "USD"}}"#,
            "prices.USA.minorUnits is a fraction or too large a number, not a whole number"
        ),
        (
            "prices", #"{"USA": {"minorUnits": "499", "currency": "USD"}}"#,
            "prices.USA.minorUnits is a text, not a whole number"
        ),
        (
            "prices", #"{"USA": {"minorUnits": 499, "currency": "DOL"}}"#,
            "prices.USA.currency is 'DOL', not an ISO 4217 currency"
        ),
        ("prices", #"{"USA": {"currency": "USD"}}"#, "prices.USA.minorUnits is missing"),
        ("prices", #"{"USA": 499}"#, "prices.USA is a whole number, not an object"),
        (
            "prices", #"{"USA": {"minorUnits": 1, "currency": "USD", "tax": 1}}"#,
            "prices.USA.tax is not a field of the catalog"
        ),
        ("localizations", nil, "localizations is missing"),
        ("localizations", "{}", "localizations must hold at least one language"),
        (
            "localizations", #"{"e": {"title": "A", "description": ""}}"#,
            "localizations.e is not a BCP 47 language tag"
        ),
        (
            "localizations", #"{"en": {"title": " ", "description": ""}}"#,
            "localizations.en.title is empty"
        ),
        (
            "localizations", #"{"en": {"title": "A\u0000", "description": ""}}"#,
            "localizations.en.title holds a control character"
        ),
        (
            "localizations", #"{"en": {"title": "A"}}"#,
            "localizations.en.description is missing"
        ),
        (
            "localizations",
            #"{"en": {"title": "A", "description": ""}, "EN": {"title": "B", "description": ""}}"#,
            "localizations.en is given twice"
        ),
        ("deliveryPlan", "{}", "deliveryPlan is an object, not an array"),
        ("deliveryPlan", "[]", "deliveryPlan must hold at least one target"),
        (
            "deliveryPlan", #"[{"kind": "hologram"}]"#,
            "deliveryPlan[0].kind is 'hologram'; it must be entitlement, credit, webhook or app"
        ),
        (
            "deliveryPlan", #"[{"kind": "app"}, {"kind": "app"}]"#,
            "deliveryPlan[1] is given twice"
        ),
        (
            "deliveryPlan",
            #"[{"kind":"credit","unit":"a","amount":1},{"kind":"credit","unit":"a","amount":2}]"#,
            "deliveryPlan[1] is given twice"
        ),
        (
            "deliveryPlan", #"[{"kind": "credit", "unit": "coins", "amount": 0}]"#,
            "deliveryPlan[0].amount is 0; it must be from 1 to 1000000000"
        ),
        (
            "deliveryPlan", #"[{"kind": "credit", "unit": "gold coins", "amount": 1}]"#,
            "deliveryPlan[0].unit is not 1 to 64 letters"
        ),
        (
            "deliveryPlan", #"[{"kind": "credit", "unit": "coins"}]"#,
            "deliveryPlan[0].amount is missing"
        ),
        (
            "deliveryPlan", #"[{"kind": "app", "unit": "coins"}]"#,
            "deliveryPlan[0].unit is not a field of the catalog"
        ),
        ("deliveryPlan", #"[{}]"#, "deliveryPlan[0].kind is missing"),
        ("deliveryPlan", #"["app"]"#, "deliveryPlan[0] is a text, not an object"),
        ("isRestoreable", "true", "isRestoreable is not a field of the catalog"),
    ])
    func whatIsWrongIsNamed(member: String, value: String?, problem: String) throws {
        let read = try read(Builder.json(replacing: [member: value]))
        #expect(read.product == nil)
        #expect(read.problems.count == 1)
        #expect(read.problems.first?.hasPrefix("com.example.premium: " + problem) == true)
    }

    @Test(arguments: [
        "merchant.example/hook", "ftp://merchant.example", "https://", "https:///hook",
        "https://merchant.example/a b", "https://merchant.exämple/", "",
        "https://user:secret@merchant.example/", "https://merchant.example/#top",
        "https://merchant.example/" + String(repeating: "x", count: 2048),
    ])
    func whatIsNoWebhookURLIsRefused(url: String) throws {
        let read = try read(
            Builder.json(replacing: ["deliveryPlan": #"[{"kind": "webhook", "url": "\#(url)"}]"#])
        )
        #expect(read.problems.count == 1)
        #expect(read.problems.first?.contains("deliveryPlan[0].url") == true)
        #expect(read.problems.first?.contains("secret") == false)
    }

    @Test func allProblemsAreReportedAtOnce() throws {
        let read = try read(
            """
            {"type": "consumable", "isRestorable": true, "colour": "red",
             "isFamilyShareable": true,
             "prices": {"USA": {"minorUnits": -1, "currency": "ZZZ"}, "Mars": {}},
             "localizations": {"en": {"title": ""}},
             "deliveryPlan": [{"kind": "entitlement"}, {"kind": "credit", "amount": "5"}]}
            """,
            id: "no id"
        )
        #expect(
            read.problems.map { $0.replacing("no id: ", with: "").prefix { $0 != " " } } == [
                "no", "colour", "isRestorable", "isFamilyShareable", "prices.Mars",
                "prices.Mars.currency",
                "prices.Mars.minorUnits", "prices.USA.currency", "prices.USA.minorUnits",
                "localizations.en.description", "localizations.en.title", "deliveryPlan[0]",
                "deliveryPlan[1].unit", "deliveryPlan[1].amount",
            ]
        )
    }

    @Test(arguments: ["[]", "null", "3", #""text""#, "1.5", "true"])
    func whatIsNoObjectIsRefused(json: String) throws {
        #expect(try read(json).problems.count == 1)
    }

    @Test func longTextsAndPlansAreRefused() throws {
        let title = String(repeating: "x", count: 101)
        let description = String(repeating: "y", count: 1001)
        let targets = (0..<9).map { #"{"kind": "credit", "unit": "u\#($0)", "amount": 1}"# }
        let read = try read(
            Builder.json(replacing: [
                "localizations":
                    #"{"en": {"title": "\#(title)", "description": "\#(description)"}}"#,
                "deliveryPlan": "[" + targets.joined(separator: ",") + "]",
            ])
        )
        #expect(read.problems.count == 3)
    }

    @Test(arguments: ["e\u{301}", "👩‍👩‍👧‍👦", "\u{301}", "🇫🇷"])
    func lengthsOfTextsAreCountedInCodePoints(character: String) throws {
        func read(_ count: Int, _ field: String) throws -> [String] {
            let long = repeated(character, toCodePoints: count)
            let texts = ["title": "Coins", "description": "A hundred."].map { name, text in
                #""\#(name)": "\#(name == field ? long : text)""#
            }
            return try self.read(
                Builder.json(replacing: [
                    "localizations": #"{"en": {\#(texts.joined(separator: ","))}}"#
                ])
            ).problems
        }
        #expect(try read(100, "title").isEmpty)
        #expect(try read(101, "title").count == 1)
        #expect(try read(1000, "description").isEmpty)
        #expect(try read(1001, "description").count == 1)
    }

    @Test func aProblemHoldsLittleOfWhatWasSent() throws {
        let name = "e" + String(repeating: "\u{301}", count: 100_000)
        let read = try read(Builder.json(replacing: [name: "1", "type": "\"\(name)\""]))
        #expect(read.problems.count == 2)
        #expect(read.problems.allSatisfy { $0.unicodeScalars.count < 300 })
    }

    private func repeated(_ text: String, toCodePoints count: Int) -> String {
        var scalars = String.UnicodeScalarView()
        while scalars.count < count { scalars.append(contentsOf: text.unicodeScalars) }
        return String(scalars.prefix(count))
    }

    @Test func pricesOfAllExponentsAndOfNothingAreTaken() throws {
        let read = try read(
            Builder.json(replacing: [
                "prices": """
                {"JPN": {"minorUnits": 800, "currency": "JPY"},
                 "KWT": {"minorUnits": 1500, "currency": "KWD"},
                 "USA": {"minorUnits": 0, "currency": "USD"}}
                """
            ])
        )
        #expect(
            read.product?.draft.prices.values.map(\.description).sorted()
                == ["0.00 USD", "1.500 KWD", "800 JPY"]
        )
    }

    @Test func aDocumentTellsTheProblemsOfAllItsProducts() throws {
        let good = Builder.json()
        let bad = Builder.json(replacing: ["type": #""lootBox""#])
        let json = #"{"products": {"b": \#(bad), "a": \#(bad), "good": \#(good)}, "extra": 1}"#
        let read = CatalogDocumentReader.read(try Builder.value(json))
        #expect(read.products.isEmpty)
        #expect(read.problems.map(\.productID) == ["", "a", "b"])
        #expect(read.problems.map(\.field) == ["extra", "type", "type"])
    }

    @Test(arguments: ["[]", "{}", #"{"products": []}"#])
    func whatIsNoDocumentIsRefused(json: String) throws {
        #expect(CatalogDocumentReader.read(try Builder.value(json)).problems.count == 1)
    }

    @Test func theSampleCatalogIsInOrder() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "deploy/sample/catalog.json")
        let json = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let read = CatalogDocumentReader.read(try Builder.value(json))
        #expect(read.problems.isEmpty)
        #expect(Set(read.products.map(\.draft.type)) == Set(ProductRules.types))
    }

    private static func subscription(_ terms: String?) -> String {
        Builder.json(replacing: [
            "type": #""autoRenewableSubscription""#, "subscription": terms,
        ])
    }

    @Test(arguments: ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"])
    func aSubscriptionReadsAsItsTypeDoes(period: String) throws {
        let json = Self.subscription(#"{"groupID": "club", "level": 2, "period": "\#(period)"}"#)
        let draft = try #require(try read(json).product?.draft)
        #expect(draft == (try JSONDecoder().decode(ProductDraft.self, from: Data(json.utf8))))
        #expect(draft.subscription?.period.description == period)
    }

    @Test(arguments: [
        (nil, "subscription is missing; give groupID, level and period"),
        ("null", "subscription is missing; give groupID, level and period"),
        (#""P1M""#, "subscription is a text, not an object"),
        (#"{"level": 1, "period": "P1M"}"#, "subscription.groupID is missing"),
        (
            #"{"groupID": "a b", "level": 1, "period": "P1M"}"#,
            "subscription.groupID is 'a b', not a subscription group id of 1 to 64"
        ),
        (
            #"{"groupID": "club", "level": 0, "period": "P1M"}"#,
            "subscription.level is 0; it must be from 1 to 1000"
        ),
        (
            #"{"groupID": "club", "level": 1, "period": "P4M"}"#,
            "subscription.period is 'P4M'; it must be one of P1W, P1M, P2M, P3M, P6M, P1Y"
        ),
        (
            #"{"groupID": "club", "level": 1, "period": "monthly"}"#,
            "subscription.period is 'monthly'; it must be one of P1W"
        ),
        (
            #"{"groupID": "club", "level": 1, "period": "P1M", "trial": "P1W"}"#,
            "subscription.trial is not a field"
        ),
    ])
    func termsWithAProblemAreRefused(terms: String?, problem: String) throws {
        let problems = try read(Self.subscription(terms)).problems
        #expect(problems.count == 1)
        #expect(
            problems.first?.hasPrefix("com.example.premium: \(problem)") == true,
            "\(problems)"
        )
    }

    @Test func onlyASubscriptionThatRenewsHasTerms() throws {
        let json = Builder.json(replacing: [
            "subscription": #"{"groupID": "club", "level": 1, "period": "P1M"}"#
        ])
        #expect(
            try read(json).problems == [
                "com.example.premium: subscription must be left out: a nonConsumable does not "
                    + "renew automatically"
            ]
        )
    }

    @Test func aReportIsBounded() {
        let problems = (0..<150).map {
            ProductProblem(productID: "p\($0)", field: "type", problem: "is missing")
        }
        let lines = ProductProblem.report(problems).split(separator: "\n")
        #expect(lines.count == 101)
        #expect(lines.first == "p0: type is missing.")
        #expect(lines.last == "And 50 more problems.")
    }

    @Test func entitlementsAreReadInTheirOrder() throws {
        let json = Builder.json(replacing: ["entitlements": #"["pro", "club"]"#])
        let draft = try #require(try read(json).product?.draft)
        #expect(draft.entitlements?.map(\.rawValue) == ["pro", "club"])
    }

    @Test(arguments: [
        (#""pro""#, "entitlements is a text, not an array"),
        (#"["a b"]"#, "entitlements[0] is 'a b', not an entitlement's name of 1 to 64"),
        (#"["pro", "pro"]"#, "entitlements[1] is given twice"),
        (#"[1]"#, "entitlements[0] is a whole number, not a text"),
        (
            "[" + (1...21).map { "\"e\($0)\"" }.joined(separator: ",") + "]",
            "entitlements must hold at most 20 names"
        ),
    ])
    func whatIsNoEntitlementIsNamed(_ names: String, _ problem: String) throws {
        let problems = try read(Builder.json(replacing: ["entitlements": names])).problems
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test func whatIsNotOwnedGivesNoEntitlement() throws {
        for (type, plan) in [("consumable", "null"), ("nonConsumable", #"[{"kind": "app"}]"#)] {
            let json = Builder.json(replacing: [
                "type": "\"\(type)\"", "deliveryPlan": plan, "entitlements": #"["pro"]"#,
                "isRestorable": "null", "isFamilyShareable": "null",
            ])
            let problems = try read(json).problems
            #expect(
                problems == [
                    "com.example.premium: entitlements must be left out: the delivery plan has no "
                        + "entitlement"
                ]
            )
        }
    }
}
