import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The HTTP routes with which administrators make and end codes.
struct CampaignRoutes: Sendable {
    let campaigns: CampaignHandler

    func add(to router: StoreRouter) {
        router.admin
            .get(RouterPath(Routes.adminCodeCampaigns), use: list)
            .post(RouterPath(Routes.adminCodeCampaigns), use: create)
            .get(RouterPath("\(Routes.adminCodeCampaigns)/:id"), use: show)
            .post(RouterPath("\(Routes.adminCodeCampaigns)/:id/deactivation"), use: deactivate)
    }

    @Sendable
    private func list(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let text = request.uri.queryParameters.get("before")
        let before = text.flatMap { Int64($0) }
        guard text == nil || before != nil else {
            throw HTTPProblem.queryInvalid("`before` must be the number of a campaign.")
        }
        return try jsonResponse(try await campaigns.campaigns(before: before))
    }

    @Sendable
    private func create(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let body = try await decodeBody(CodeCampaignRequest.self, from: request)
        guard !CardNumber.isIn(body.word ?? "") else { throw HTTPProblem.cardNumberRefused }
        let act = try context.act(because: body.reason)
        return try answer(try await campaigns.create(body, by: act), status: .created)
    }

    @Sendable
    private func show(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        try answer(try await campaigns.campaign(try campaignID(context)))
    }

    @Sendable
    private func deactivate(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let id = try campaignID(context)
        let body = try await decodeBody(CodeDeactivationRequest.self, from: request)
        let act = try context.act(because: body.reason)
        return try answer(try await campaigns.deactivate(id, by: act))
    }

    private func answer(
        _ reply: CampaignHandler.Reply,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        switch reply {
        case .unknown: throw Self.campaignUnknown
        case .offerUnknown:
            throw HTTPProblem.badRequest(
                "offer_unknown",
                "The offer is unknown",
                "The product has no such offer among its codeOffers."
            )
        case .invalid(let fault):
            throw HTTPProblem.badRequest("campaign_invalid", "The campaign is invalid", fault)
        case .wordTaken:
            throw HTTPProblem(
                .conflict,
                code: "code_taken",
                title: "The custom code is taken",
                detail: "The app has, or had, a custom code of this word. Choose another word."
            )
        case .campaign(let campaign, let codes):
            return try jsonResponse(
                CodeCampaignResponse(campaign: campaign, codes: codes.isEmpty ? nil : codes),
                status: status,
                headers: [.cacheControl: "no-store"]
            )
        }
    }

    private func campaignID(_ context: StoreRequestContext) throws -> Int64 {
        guard let id = context.parameters.get("id").flatMap({ Int64($0) }) else {
            throw Self.campaignUnknown
        }
        return id
    }

    private static let campaignUnknown = HTTPProblem.notFound(
        "There is no campaign of codes with this number."
    )
}
