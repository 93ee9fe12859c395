import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// The list of products, the page of one, and its change: the form, the difference, the saving.
struct ProductRoutes: Sendable {
    /// The longest form of a product, which has texts in many languages.
    static let formLengthMax = 512 << 10

    let acts: ActRunner
    let desk: StoreDesk

    private var door: ConsoleDoor { acts.door }

    func add(to router: Router<StoreRequestContext>) {
        router.get("/products") { request, _ in
            let visitor = try door.visitor(of: request, seeing: .products)
            let after = FormFields(request.uri.query ?? "")?["after"] ?? ""
            let (products, isCut) = try await desk.products(after: after)
            return pageResponse(
                ProductListPage(products: products, isCut: isCut, visitor: visitor).html
            )
        }
        router.get("/products/:id", use: show)
        router.post("/products/:id/preview", use: preview)
        router.post("/products/:id/edit", use: editAgain)
        router.post("/products/:id", use: save)
    }

    private func show(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let visitor = try door.visitor(of: request, seeing: .products)
        let edit = try await desk.product(try Self.id(of: context), token: visitor.session.token)
        let isSaved = request.uri.queryParameters.get("done") == "save"
        let page = ProductPage(
            product: edit.product,
            form: ProductForm(edit.product),
            visitor: visitor,
            occasion: isSaved ? .saved : .opened
        )
        return pageResponse(page.html)
    }

    private func preview(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form, edit, _) = try await asked(request, context)
        if let refusal = refusal(of: form, edit, visitor) { return refusal }
        let page = ProductChangePage(
            product: edit.product,
            form: form,
            difference: ProductDifference(
                from: edit.product,
                to: form.wish(for: edit.product).wish
            ),
            visitor: visitor
        )
        return pageResponse(page.html)
    }

    private func editAgain(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form, edit, _) = try await asked(request, context)
        let page = ProductPage(
            product: edit.product,
            form: form,
            visitor: visitor,
            occasion: form.isCurrent(for: edit.product) ? .opened : .changedMeanwhile
        )
        return pageResponse(page.html)
    }

    private func save(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form, edit, reason) = try await asked(request, context)
        if let refusal = refusal(of: form, edit, visitor) { return refusal }
        let id = edit.product.id
        let token = visitor.session.token
        let path = PlainWords.path(ofProduct: id)
        let back = ConsoleProblem.Back(path: path, words: "Back to the product")
        do {
            try await acts.run("change a product", on: "\(id)", by: visitor, back: back) {
                try await desk.save(
                    form.wish(for: edit.product).wish,
                    onto: edit,
                    because: reason,
                    token: token
                )
            }
        } catch let problem as ConsoleProblem where problem.status == 412 {
            // Somebody was faster between the reading and the writing.
            let edit = try await desk.product(id, token: token)
            return page(of: form, edit, visitor, .changedMeanwhile, .preconditionFailed)
        } catch let problem as ConsoleProblem where problem.status == 422 {
            return page(of: form, edit, visitor, .wrong([problem.detail]), .unprocessableContent)
        }
        return Response(status: .seeOther, headers: [.location: "\(path)?done=save"])
    }

    /// Reads a form, the product as it is now, and the reason if one is given.
    private func asked(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> (Visitor, ProductForm, ProductEdit, ActReason?) {
        let (visitor, fields) = try await acts.asked(
            request,
            context,
            as: .merchandiser,
            upTo: Self.formLengthMax
        )
        guard let form = ProductForm(fields) else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was saved.")
        }
        let id = try Self.id(of: context)
        let back = ConsoleProblem.Back(
            path: PlainWords.path(ofProduct: id),
            words: "Back to the product"
        )
        let reason = try ActFormRules.reasonIfGiven(in: fields, back: back)
        let edit = try await desk.product(id, token: visitor.session.token)
        return (visitor, form, edit, reason)
    }

    /// The page that says why a form cannot be saved; `nil` if it can.
    private func refusal(
        of form: ProductForm,
        _ edit: ProductEdit,
        _ visitor: Visitor
    ) -> Response? {
        guard form.isCurrent(for: edit.product) else {
            return page(of: form, edit, visitor, .changedMeanwhile, .preconditionFailed)
        }
        let problems = form.wish(for: edit.product).problems
        guard !problems.isEmpty else { return nil }
        return page(of: form, edit, visitor, .wrong(problems), .unprocessableContent)
    }

    /// The page of a product with a form that keeps what was written.
    private func page(
        of form: ProductForm,
        _ edit: ProductEdit,
        _ visitor: Visitor,
        _ occasion: ProductPage.Occasion,
        _ status: HTTPResponse.Status
    ) -> Response {
        let page = ProductPage(
            product: edit.product,
            form: form,
            visitor: visitor,
            occasion: occasion
        )
        return pageResponse(page.html, status)
    }

    /// The product that a path names, which must be a subscription that renews.
    static func subscription(
        of context: StoreRequestContext,
        at desk: StoreDesk,
        _ visitor: Visitor
    ) async throws -> ProductEdit {
        let edit = try await desk.product(try id(of: context), token: visitor.session.token)
        guard edit.product.type == .autoRenewableSubscription else { throw ConsoleProblem.notFound }
        return edit
    }

    /// The product that a path names.
    static func id(of context: StoreRequestContext) throws(ConsoleProblem) -> ProductID {
        guard let text = context.parameters.get("id")?.removingPercentEncoding,
            let id = ProductID(rawValue: text)
        else { throw .notFound }
        return id
    }
}
