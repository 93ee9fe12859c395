import EventTypes
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct AccountPageTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func page(isCut: Bool = false, _ holdings: AccountHoldings? = nil) -> String {
        let purchase = AccountStory.Purchase(
            transactionID: TransactionID(number: 1_000_001),
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: "com.example.coins",
            state: "purchased",
            isDelivered: true,
            isRevoked: false,
            finishedAt: nil,
            changedAt: now
        )
        return AccountPage(
            story: AccountStory(
                accountID: AccountID(unchecked: "ada"),
                purchases: [purchase],
                isCut: isCut,
                deadLetters: []
            ),
            holdings: holdings,
            visitor: .sample([.read]),
            now: now
        ).html.markup
    }

    @Test func anAccountWithMorePurchasesLeadsToOlderOnes() {
        let cut = Self.page(isCut: true)
        #expect(cut.contains("href=\"/accounts/ada?before="))
        #expect(!cut.contains("&lt;"))
        #expect(!Self.page(isCut: false).contains("Older ones"))
    }

    private static let app = BundleID(unchecked: "com.example.app")

    private static func standing(
        isAllowed: Bool,
        _ storefront: Storefront?,
        _ family: Family?
    ) -> AccountHoldings.Standing {
        AccountHoldings.Standing(
            bundleID: app,
            canMakePayments: isAllowed,
            storefront: storefront,
            family: family
        )
    }

    @Test func whatAnAccountHasStandsBesideItsPurchases() {
        let level = ProductID(unchecked: "com.example.levels")
        let club = AccountHoldings.Owned(
            bundleID: Self.app,
            productID: ProductID(unchecked: "com.example.club"),
            originalID: TransactionID(number: 1_000_003),
            endsAt: Self.now,
            isRenewing: true
        )
        let family = Family(
            id: FamilyID(unchecked: "1"),
            bundleID: Self.app,
            version: 1,
            organizer: AccountID(unchecked: "eve"),
            members: [
                FamilyMember(accountID: AccountID(unchecked: "eve"), joinedAt: Self.now),
                FamilyMember(accountID: AccountID(unchecked: "ada"), joinedAt: Self.now),
            ],
            createdAt: Self.now
        )
        let page = Self.page(
            AccountHoldings(
                owned: [
                    .init(level, in: Self.app, since: TransactionID(number: 1_000_002)), club,
                ],
                balances: [.init(bundleID: Self.app, unit: "coins", amount: -1200)],
                standings: [
                    Self.standing(isAllowed: false, Storefront(unchecked: "USA"), family)
                ]
            )
        )
        for words in [
            "without end, <a href=\"/purchases/1000002\">",
            "until 2026-11-21 05:00:00, then it renews",
            "-1,200", "no, somebody has forbidden it", "<dd>USA</dd>",
            "2 members, organized by <a href=\"/accounts/eve\">eve</a>",
        ] {
            #expect(page.contains(words), "\(words)")
        }
    }

    @Test func whoHasBoughtNothingMayStillHaveAPage() {
        let ada = AccountID(unchecked: "ada")
        let unknown = AccountHoldings(owned: [], balances: [], standings: [])
        #expect(StoreDesk.story(nil, of: ada, beside: unknown) == nil)
        #expect(StoreDesk.story(nil, of: ada, beside: nil) == nil, "there is nothing older")
        let forbidden = AccountHoldings(
            owned: [],
            balances: [],
            standings: [Self.standing(isAllowed: false, nil, nil)]
        )
        let story = StoreDesk.story(nil, of: ada, beside: forbidden)
        #expect(story?.accountID == ada && story?.purchases.isEmpty == true)
    }

    @Test func anAccountWithNothingSaysSoInWords() {
        let page = Self.page(AccountHoldings(owned: [], balances: [], standings: []))
        for words in ["It owns nothing", "has credited anything", "Yes, in the storefront"] {
            #expect(page.contains(words), "\(words)")
        }
        let rich = Self.page(AccountHoldings(owned: [], balances: nil, standings: []))
        #expect(rich.contains("too many credits"))
        #expect(!Self.page().contains("Has now"), "a page of older purchases is about these")
        let cut = AccountHoldings(owned: [], isOwnedCut: true, balances: [], standings: [])
        #expect(!Self.page(cut).contains("It owns nothing"), "there are more")
    }
}
