import EventTypes
import StoreAPI
import Testing

@testable import Console

@Suite struct CampaignPageTests {
    private static let start = StoreTime(millisecondsSinceEpoch: 1_795_237_200_000)

    private static func campaign(word: String? = nil, redemptions: Int = 3) -> CodeCampaign {
        CodeCampaign(
            id: 7,
            bundleID: BundleID(unchecked: "com.example.app"),
            productID: ProductID(unchecked: "club"),
            offerID: OfferID(unchecked: "spring"),
            word: word,
            count: 1000,
            redemptions: redemptions,
            createdAt: start,
            created: act("<i>leaflets</i>")
        )
    }

    private static func act(_ reason: String) -> Act {
        Act(
            decidedBy: AdministratorName(unchecked: "mia"),
            reason: ActReason(rawValue: reason)
        )
    }

    private func page(
        _ campaign: CodeCampaign,
        codes: [String] = [],
        _ scopes: Set<AdministratorScope> = [.merchandiser]
    ) -> String {
        CampaignPage(campaign: campaign, codes: codes, visitor: .sample(scopes)).html.markup
    }

    @Test func aCampaignSaysHowManyWereRedeemedAndWhoMadeItAndWhy() {
        let markup = page(Self.campaign())
        for part in [
            "Campaign 7", "3 of 1,000", "<a href=\"/products/club/offers\">spring</a>",
            "<strong>mia</strong>", "“&lt;i&gt;leaflets&lt;/i&gt;”",
            "action=\"/codes/7/deactivation\"", "name=\"csrf\"", "name=\"reason\"",
        ] { #expect(markup.contains(part), "\(part)") }
        #expect(!markup.contains("id=\"codes\""))
    }

    @Test func codesAreShownOnThePageThatAnswersTheForm() {
        let markup = page(Self.campaign(), codes: ["AAAA", "BBBB"])
        #expect(markup.contains("<pre id=\"codes\">AAAA\nBBBB</pre>"))
    }

    @Test func whoMayNotSellDecidesNothing() {
        #expect(!page(Self.campaign(), [.read]).contains("<dialog"))
        let list = CampaignListPage(
            found: CodeCampaignsResponse(campaigns: [Self.campaign()], next: 7),
            formText: "text-1",
            visitor: .sample([.read])
        ).html.markup
        #expect(!list.contains("action=\"/codes\""))
        #expect(list.contains("href=\"/codes/7\"") && list.contains("/codes?before=7"))
    }

    @Test func theFormCarriesATextByWhichItIsTakenOnce() {
        let list = CampaignListPage(
            found: CodeCampaignsResponse(campaigns: []),
            formText: "text-1",
            visitor: .sample([.merchandiser])
        ).html.markup
        for part in [
            "action=\"/codes\"", "name=\"form\" value=\"text-1\"", "name=\"csrf\"",
            "name=\"reason\"", "There are no campaigns",
        ] { #expect(list.contains(part), "\(part)") }
    }

    @Test func thePageOfAnOfferFillsTheForm() {
        func list(_ query: String) -> String {
            CampaignListPage(
                found: CodeCampaignsResponse(campaigns: [Self.campaign()]),
                formText: "text-1",
                visitor: .sample([.merchandiser]),
                offer: CampaignListPage.Offer(FormFields(query))
            ).html.markup
        }
        let filled = list("product=club&offer=summer")
        for part in [
            "<details class=\"card\" open>", "name=\"product\" value=\"club\"",
            "name=\"offer\" value=\"summer\"", "name=\"app\" value=\"com.example.app\"",
        ] { #expect(filled.contains(part), "\(part)") }
        #expect(list("product=gym&offer=summer").contains("name=\"app\" value=\"\""))
        for query in ["", "product=club", "before=7"] {
            #expect(!list(query).contains("<details class=\"card\" open>"), "\(query)")
        }
    }

    @Test func whatHasEndedCannotBeDeactivated() {
        var campaign = Self.campaign(word: "SPRING", redemptions: 1000)
        #expect(CampaignPage.state(of: campaign).text == "used up")
        campaign.deactivatedAt = Self.start
        campaign.deactivated = Self.act("lost")
        let markup = page(campaign)
        #expect(markup.contains("Code SPRING") && markup.contains("deactivated"))
        #expect(markup.contains("“lost”"))
        #expect(!markup.contains("<dialog"))
    }
}
