import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// Offer codes: the routes of `payments` to read campaigns, to make them and to end them.
extension StoreDesk {
    /// A page of campaigns, the newest first.
    func campaigns(before: Int64?, token: String) async throws -> CodeCampaignsResponse {
        try await connection(to: .payments, token: token).send(
            .GET,
            Routes.adminCodeCampaigns,
            StoreConnection.Content(query: before.map { [(name: "before", value: "\($0)")] } ?? []),
            as: CodeCampaignsResponse.self
        )
    }

    /// A campaign.
    func campaign(_ id: Int64, token: String) async throws -> CodeCampaign {
        try await connection(to: .payments, token: token).send(
            .GET,
            Routes.adminCodeCampaign(id),
            as: CodeCampaignResponse.self
        ).campaign
    }

    /// Makes a campaign; the answer has its one-time codes, and no later one does.
    func make(_ request: CodeCampaignRequest, token: String) async throws -> CodeCampaignResponse {
        try await connection(to: .payments, token: token).send(
            .POST,
            Routes.adminCodeCampaigns,
            .json(request),
            as: CodeCampaignResponse.self
        )
    }

    /// Ends the codes of a campaign.
    func deactivate(_ id: Int64, because reason: ActReason, token: String) async throws {
        _ = try await connection(to: .payments, token: token).send(
            .POST,
            Routes.codeDeactivation(id),
            .json(CodeDeactivationRequest(reason: reason))
        )
    }
}
