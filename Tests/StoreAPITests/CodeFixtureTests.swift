import EventTypes
import StoreAPI
import Testing

/// The bodies about offer codes, as other programs read and write them.
@Suite struct CodeFixtureTests {
    @Test func campaignsReadBack() throws {
        let request = try HTTPFixture.roundTrip(CodeCampaignRequest.self, "code.campaign.request")
        #expect(request.word == "SPRING2027" && request.count == 5000)
        let made = try HTTPFixture.roundTrip(CodeCampaignResponse.self, "code.campaign.response")
        #expect(made.codes?.count == 2 && made.campaign.redemptions == 0)
        let page = try HTTPFixture.roundTrip(CodeCampaignsResponse.self, "code.campaigns.response")
        #expect(page.campaigns.first?.deactivated?.reason?.rawValue == "Lost" && page.next == 2)
        let end = try HTTPFixture.roundTrip(
            CodeDeactivationRequest.self,
            "code.deactivation.request"
        )
        #expect(end.reason?.rawValue == "Lost")
    }

    @Test func ticketsReadBack() throws {
        let request = try HTTPFixture.roundTrip(
            RedemptionTicketRequest.self,
            "redemption.ticket.request"
        )
        #expect(request.paymentMethod == SandboxPaymentMethod.success.method)
        let ticket = try HTTPFixture.roundTrip(
            RedemptionTicketResponse.self,
            "redemption.ticket.response"
        )
        #expect(ticket.path.hasPrefix(Routes.redemptionPage))
    }

    @Test func routesHoldTheirNumbers() {
        #expect(Routes.adminCodeCampaign(3) == "/v1/admin/code-campaigns/3")
        #expect(Routes.codeDeactivation(3) == "/v1/admin/code-campaigns/3/deactivation")
    }
}
