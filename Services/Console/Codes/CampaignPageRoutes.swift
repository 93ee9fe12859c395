import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Offer codes: their campaigns, the page of one, and what merchandisers decide about them.
struct CampaignPageRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk
    let sent = SentForms()

    func add(to router: Router<StoreRequestContext>) {
        router.get("/codes") { request, _ in
            let visitor = try acts.door.visitor(of: request, seeing: .products)
            let page = CampaignListPage(
                found: try await desk.campaigns(
                    before: request.uri.queryParameters.get("before").flatMap { Int64($0) },
                    token: visitor.session.token
                ),
                formText: RandomSecret.make(),
                visitor: visitor,
                offer: CampaignListPage.Offer(FormFields(request.uri.query ?? ""))
            )
            return pageResponse(page.html)
        }
        router.get("/codes/:id") { request, context in
            let visitor = try acts.door.visitor(of: request, seeing: .products)
            let campaign = try await desk.campaign(
                try Self.id(of: context),
                token: visitor.session.token
            )
            return pageResponse(CampaignPage(campaign: campaign, visitor: visitor).html)
        }
        router.post("/codes", use: make)
        router.post("/codes/:id/deactivation", use: deactivate)
    }

    private func make(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .merchandiser)
        let back = CampaignForm.back
        let reason = try ActFormRules.reason(in: form, back: back)
        let wish = try CampaignForm.request(in: form, because: reason)
        try sent.begin(form["form"], back: back)
        let subject = "\(wish.offerID) of \(wish.productID)"
        let made = try await acts.run("make codes", on: subject, by: visitor, back: back) {
            () async throws -> CodeCampaignResponse in
            do {
                return try await desk.make(wish, token: visitor.session.token)
            } catch let error as OperatorError {
                if !error.mayHaveActed { sent.forget(form["form"]) }
                throw error
            }
        }
        guard let codes = made.codes else {
            return Self.go(to: made.campaign.id)
        }
        // The answer itself has the codes, because no later page can show them.
        let page = CampaignPage(campaign: made.campaign, codes: codes, visitor: visitor)
        return pageResponse(page.html, .created)
    }

    private func deactivate(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .merchandiser)
        let id = try Self.id(of: context)
        let back = ConsoleProblem.Back(path: "/codes/\(id)", words: "Back to the campaign")
        let reason = try ActFormRules.reason(in: form, back: back)
        try ActFormRules.requireTyped("\(id)", in: form, back: back)
        try await acts.run("deactivate codes", on: "\(id)", by: visitor, back: back) {
            try await desk.deactivate(id, because: reason, token: visitor.session.token)
        }
        return Self.go(to: id)
    }

    private static func go(to id: Int64) -> Response {
        Response(status: .seeOther, headers: [.location: "/codes/\(id)"])
    }

    /// The campaign that a path names.
    private static func id(of context: StoreRequestContext) throws(ConsoleProblem) -> Int64 {
        guard let id = context.parameters.get("id").flatMap({ Int64($0) }) else { throw .notFound }
        return id
    }
}
