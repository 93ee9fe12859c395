import EventTypes
import StoreAPI
import Testing

@testable import Catalog

@Suite struct GroupRulesTests {
    private static let club = SubscriptionGroupID(unchecked: "club")
    private static let french = LanguageTag(unchecked: "fr")

    private static func edit(_ name: String) -> GroupRules.Edit {
        GroupRules.Edit(
            id: club,
            draft: SubscriptionGroupDraft(localizations: [
                Builder.en: SubscriptionGroupText(name: name)
            ])
        )
    }

    private static func group(_ name: String, version: Int) -> SubscriptionGroup {
        SubscriptionGroup(
            id: club,
            version: version,
            localizations: edit(name).draft.localizations
        )
    }

    @Test func eachChangeOfANameIsANewVersion() {
        let first = Self.group("Club", version: 1)
        #expect(
            GroupRules.decide(Self.edit("Club"), current: nil, hasProduct: true) == .created(first)
        )
        #expect(
            GroupRules.decide(Self.edit("Club"), current: first, hasProduct: true)
                == .unchanged(first)
        )
        #expect(
            GroupRules.decide(Self.edit("Gold"), current: first, hasProduct: true)
                == .changed(Self.group("Gold", version: 2))
        )
    }

    @Test func aGroupWithoutAProductIsUnknown() {
        #expect(
            GroupRules.decide(Self.edit("Club"), current: nil, hasProduct: false)
                == .unknown(Self.club)
        )
    }

    @Test func aRefusedEditWritesNothing() {
        let group = GroupRules.Decision.created(Self.group("Club", version: 1))
        let product = ProductRules.Decision.created(Builder.product())
        let made = CatalogDecisions(products: [product], groups: [group])
        #expect(made.writtenProducts.count == 1 && made.writtenGroups.count == 1)
        for decisions in [
            CatalogDecisions(products: [product], groups: [group, .unknown(Self.club)]),
            CatalogDecisions(
                products: [product, .refused(.unknown(Builder.coins))],
                groups: [group]
            ),
        ] {
            #expect(decisions.writtenProducts.isEmpty && decisions.writtenGroups.isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"en": {"name": "Club"}, "fr": {"name": "Le club"}}"#, []),
        ("[]", ["localizations is an array, not an object"]),
        ("{}", ["localizations must hold at least one language"]),
        (#"{"en": {"name": " "}}"#, ["localizations.en.name is empty"]),
        (#"{"en": {"name": 1}}"#, ["localizations.en.name is a whole number, not a text"]),
        (#"{"en": {"name": "a\u0007b"}}"#, ["localizations.en.name holds a control character"]),
        (#"{"en": {}}"#, ["localizations.en.name is missing"]),
        (
            #"{"en": {"name": "a", "title": "b"}}"#,
            ["localizations.en.title is not a field of the catalog"]
        ),
        (
            #"{"EN": {"name": "a"}, "en": {"name": "b"}, "e": {"name": "c"}}"#,
            [
                "localizations.e is not a BCP 47 language tag such as en-US",
                "localizations.en is given twice; languages differ by more than the case of letters",
            ]
        ),
    ])
    func namesAreValidated(localizations: String, problems: [String]) throws {
        let json = try Builder.value(#"{"localizations": \#(localizations)}"#)
        let read = GroupDraftReader.read(json, id: "club")
        #expect(read.problems.map(\.description) == problems.map { "group club: \($0)" })
        #expect((read.group != nil) == problems.isEmpty)
    }

    @Test func aNameHasAtMostOneHundredCharacters() throws {
        for (count, isFine) in [(100, true), (101, false)] {
            let name = String(repeating: "a", count: count)
            let json = try Builder.value(#"{"localizations": {"en": {"name": "\#(name)"}}}"#)
            #expect(GroupDraftReader.read(json, id: "club").problems.isEmpty == isFine)
        }
    }

    @Test func theIdOfAGroupIsValidated() throws {
        let json = try Builder.value(#"{"localizations": {"en": {"name": "Club"}}}"#)
        let read = GroupDraftReader.read(json, id: "a club")
        #expect(read.group == nil && read.problems.count == 1)
    }

    @Test func aNameIsListedInTheBestLanguageOfTheGroup() {
        var list = PriceList()
        list.merge([Builder.product(draft: Builder.subscription())])
        func name(_ language: String) -> String? {
            list.response(
                to: [Builder.premium.rawValue],
                in: Builder.usa,
                language: LanguageTag(unchecked: language)
            ).products.first?.subscriptionGroupName
        }
        #expect(name("en") == nil)
        var group = Self.group("Club", version: 2)
        group.localizations[Self.french] = SubscriptionGroupText(name: "Le club")
        list.merge(groups: [group])
        #expect(name("en-US") == "Club" && name("fr-CA") == "Le club" && name("de") == "Club")
        list.merge(groups: [Self.group("Old club", version: 1)])
        #expect(name("en") == "Club", "an older version is ignored")
    }
}
