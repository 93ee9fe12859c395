import EventTypes
import Foundation
import StoreAPI
import Testing

/// The bodies about offer codes, as other programs read and write them.
@Suite struct CodeFixtureTests {
    private func roundTrip<Body: Codable & Equatable>(
        _ type: Body.Type,
        _ name: String
    ) throws -> Body {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/http")
        let json = try Data(contentsOf: folder.appending(path: name + ".json"))
        let body = try JSONDecoder().decode(type, from: json)
        #expect(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(body)) as? NSDictionary
                == JSONSerialization.jsonObject(with: json) as? NSDictionary
        )
        return body
    }

    @Test func campaignsReadBack() throws {
        let request = try roundTrip(CodeCampaignRequest.self, "code.campaign.request")
        #expect(request.word == "SPRING2027" && request.count == 5000)
        let made = try roundTrip(CodeCampaignResponse.self, "code.campaign.response")
        #expect(made.codes?.count == 2 && made.campaign.redemptions == 0)
        let page = try roundTrip(CodeCampaignsResponse.self, "code.campaigns.response")
        #expect(page.campaigns.first?.deactivated?.reason?.rawValue == "Lost" && page.next == 2)
        let end = try roundTrip(CodeDeactivationRequest.self, "code.deactivation.request")
        #expect(end.reason?.rawValue == "Lost")
    }

    @Test func ticketsReadBack() throws {
        let request = try roundTrip(RedemptionTicketRequest.self, "redemption.ticket.request")
        #expect(request.paymentMethod == SandboxPaymentMethod.success.method)
        let ticket = try roundTrip(RedemptionTicketResponse.self, "redemption.ticket.response")
        #expect(ticket.path.hasPrefix(Routes.redemptionPage))
    }

    @Test func routesHoldTheirNumbers() {
        #expect(Routes.adminCodeCampaign(3) == "/v1/admin/code-campaigns/3")
        #expect(Routes.codeDeactivation(3) == "/v1/admin/code-campaigns/3/deactivation")
    }
}
