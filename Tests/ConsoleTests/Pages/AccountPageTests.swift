import EventTypes
import StoreAPI
import Testing

@testable import Console
@testable import OperatorCore

@Suite struct AccountPageTests {
    private static let now = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static let id = TransactionID(number: 1_000_001)
    private static let nothing = AccountMoney(purchases: [:], sums: [])

    private static func page(
        isCut: Bool = false,
        _ holdings: AccountHoldings? = nil,
        money: AccountMoney = nothing
    ) -> String {
        let purchase = AccountStory.Purchase(
            transactionID: id,
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
            money: money,
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

    private static func usd(_ units: Int64) -> Money {
        Money(minorUnits: units, currency: Currency(unchecked: "USD"))
    }

    @Test func eachPurchaseSaysItsPriceAndTheLedgerSumsToZero() {
        func money(_ price: Int64, givenBack: Int64, revenue: Int64) -> AccountMoney {
            AccountMoney(
                purchases: [
                    Self.id: .init(
                        quantity: 3,
                        price: Self.usd(price),
                        time: Self.now,
                        givenBack: Self.usd(givenBack)
                    )
                ],
                sums: [
                    .init(account: "buyer:ada", amount: Self.usd(-200)),
                    .init(account: "store_revenue", amount: Self.usd(revenue)),
                ]
            )
        }
        let page = Self.page(money: money(297, givenBack: 97, revenue: 200))
        for words in [
            ">3 × com.example.coins</a>", "2.97 USD, 0.97 USD given back", "2026-11-21 05:00:00, ",
            "title=\"buyer:ada\">the buyer</th>", "class=\"tone-good\" data-sum=\"0\"",
        ] {
            #expect(page.contains(words), "\(words)")
        }
        let free = Self.page(money: money(0, givenBack: 0, revenue: 199))
        #expect(free.contains("<span>free</span>"))
        #expect(free.contains("class=\"tone-bad\" data-sum=\"-1\""), "broken books are seen")
        #expect(Self.page().contains("No money has moved"))
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

    @Test func whatWaitsForTheAppIsShown() {
        let intent = AccountHoldings.Intent(
            bundleID: Self.app,
            productID: ProductID(unchecked: "<b>"),
            quantity: 3,
            createdAt: Self.now
        )
        let begun = AccountHoldings(owned: [], balances: [], standings: [], intents: [intent])
        #expect(!begun.isEmpty)
        let page = Self.page(begun)
        #expect(page.contains("Waits for the app"))
        #expect(page.contains("<dt>3 × &lt;b&gt;</dt><dd>since 2026-11-21 05:00:00 "))
        let nothing = AccountHoldings(owned: [], balances: [], standings: [])
        #expect(!Self.page(nothing).contains("Waits for the app"))
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
        let coins = AccountHoldings.Balance(bundleID: Self.app, unit: "coins", amount: 1)
        let rich = AccountHoldings(
            owned: [],
            balances: [coins],
            isBalancesCut: true,
            standings: []
        )
        #expect(Self.page(rich).contains("</dl><p class=\"dim\">There are more.</p>"))
        #expect(!Self.page().contains("Has now"), "a page of older purchases is about these")
        let cut = AccountHoldings(owned: [], isOwnedCut: true, balances: [], standings: [])
        #expect(!Self.page(cut).contains("It owns nothing"), "there are more")
    }
}
