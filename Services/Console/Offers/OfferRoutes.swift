import EventTypes
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// The offers of a product: their list, the form of one, the difference, the saving.
struct OfferRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.get("/products/:id/offers") { request, context in
            let visitor = try acts.door.visitor(of: request, seeing: .products)
            let product = try await ProductRoutes.subscription(of: context, at: desk, visitor)
                .product
            let isSaved = request.uri.queryParameters.get("done") == "save"
            let page = OfferListPage(product: product, visitor: visitor, isSaved: isSaved)
            return pageResponse(page.html)
        }
        router.get("/products/:id/offers/:kind", use: show)
        router.post("/products/:id/offers/:kind/preview") {
            try await answer($0, $1) { preview($0) }
        }
        router.post("/products/:id/offers/:kind/edit") { try await answer($0, $1) { edit($0) } }
        router.post("/products/:id/offers/:kind") { try await answer($0, $1, save) }
    }

    /// A form that was sent, and the product as it is now.
    private struct Asked {
        let visitor: Visitor
        let form: OfferForm
        let edit: ProductEdit
        /// The reason of the change; `nil` if none is given.
        var reason: ActReason?

        func page(
            _ occasion: ProductPage.Occasion,
            _ status: HTTPResponse.Status = .ok
        ) -> Response {
            let page = OfferPage(
                product: edit.product,
                form: form,
                visitor: visitor,
                occasion: occasion
            )
            return pageResponse(page.html, status)
        }

        /// The page that says why the form cannot be saved; `nil` if it can.
        var refusal: Response? {
            guard form.version == edit.version else {
                return page(.changedMeanwhile, .preconditionFailed)
            }
            let problems = form.wish(for: edit.product).problems
            return problems.isEmpty ? nil : page(.wrong(problems), .unprocessableContent)
        }
    }

    private func show(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let visitor = try acts.door.visitor(of: request, seeing: .products)
        let product = try await ProductRoutes.subscription(of: context, at: desk, visitor).product
        let kind = try Self.kind(of: context)
        let id = FormFields(request.uri.query ?? "")?["id"] ?? ""
        let offers = OfferDraft.all(kind, of: ProductOffers(product))
        let offer = offers.first { ($0.id?.rawValue ?? "") == id }
        guard offer != nil || id.isEmpty else { throw ConsoleProblem.notFound }
        let form = OfferForm(offer, kind, of: product)
        return pageResponse(OfferPage(product: product, form: form, visitor: visitor).html)
    }

    private func preview(_ asked: Asked) -> Response {
        if let refusal = asked.refusal { return refusal }
        let page = OfferChangePage(
            product: asked.edit.product,
            form: asked.form,
            visitor: asked.visitor
        )
        return pageResponse(page.html)
    }

    private func edit(_ asked: Asked) -> Response { asked.page(.opened) }

    private func save(_ asked: Asked) async throws -> Response {
        if let refusal = asked.refusal { return refusal }
        let (edit, token) = (asked.edit, asked.visitor.session.token)
        let id = edit.product.id
        let path = OfferListPage.path(of: id)
        let back = ConsoleProblem.Back(path: path, words: "Back to the offers")
        do {
            try await acts.run("change an offer", on: "\(id)", by: asked.visitor, back: back) {
                try await desk.save(
                    asked.form.offers(of: edit.product),
                    onto: edit,
                    because: asked.reason,
                    token: token
                )
            }
        } catch let problem as ConsoleProblem where problem.status == 412 {
            // Somebody was faster between the reading and the writing.
            let now = try await desk.product(id, token: token)
            return Asked(visitor: asked.visitor, form: asked.form, edit: now)
                .page(.changedMeanwhile, .preconditionFailed)
        } catch let problem as ConsoleProblem where problem.status == 422 {
            return asked.page(.wrong([problem.detail]), .unprocessableContent)
        }
        return Response(status: .seeOther, headers: [.location: "\(path)?done=save"])
    }

    private func answer(
        _ request: Request,
        _ context: StoreRequestContext,
        _ body: (Asked) async throws -> Response
    ) async throws -> Response {
        let (visitor, fields) = try await acts.asked(
            request,
            context,
            as: .merchandiser,
            upTo: ProductRoutes.formLengthMax
        )
        guard let form = OfferForm(fields, try Self.kind(of: context)) else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was saved.")
        }
        let back = ConsoleProblem.Back(
            path: OfferListPage.path(of: try ProductRoutes.id(of: context)),
            words: "Back to the offers"
        )
        let reason = try ActFormRules.reasonIfGiven(in: fields, back: back)
        let edit = try await ProductRoutes.subscription(of: context, at: desk, visitor)
        return try await body(Asked(visitor: visitor, form: form, edit: edit, reason: reason))
    }

    private static func kind(of context: StoreRequestContext) throws(ConsoleProblem) -> OfferKind {
        guard let kind = context.parameters.get("kind").flatMap({ OfferKind(rawValue: $0) }) else {
            throw .notFound
        }
        return kind
    }
}
