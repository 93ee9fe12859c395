import EventTypes
import HTTPTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Extensions of all subscribers of a product: the list, the confirmation, and the page of one.
///
/// The store does the work by itself, in pages. The console only asks for it and watches.
struct MassExtensionPageRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk

    func add(to router: Router<StoreRequestContext>) {
        router.get("/products/:id/extensions") { request, context in
            let visitor = try acts.door.visitor(of: request, seeing: .purchases)
            let product = try ProductRoutes.id(of: context)
            let page = MassExtensionListPage(
                product: product,
                found: try await desk.massExtensions(of: product),
                visitor: visitor
            )
            return pageResponse(page.html)
        }
        router.get("/products/:id/extensions/:number") { request, context in
            let visitor = try acts.door.visitor(of: request, seeing: .purchases)
            let page = MassExtensionPage(listed: try await listed(context), visitor: visitor)
            return pageResponse(page.html)
        }
        router.get("/products/:id/extensions/:number/live") { request, context in
            _ = try acts.door.visitor(of: request, seeing: .purchases, isUse: false)
            let listed = try await listed(context)
            return try LiveAnswer(
                stamp: MassExtensionPage.stamp(of: listed),
                fields: MassExtensionPage.fields(of: listed)
            ).response()
        }
        router.post("/products/:id/extensions/preview") { request, context in
            let (visitor, form) = try await acts.asked(request, context, as: .support)
            let wish = try MassExtensionForm.wish(of: ProductRoutes.id(of: context), in: form)
            let page = MassExtensionPreviewPage(
                wish: wish,
                count: try await desk.subscribers(of: wish),
                visitor: visitor
            )
            return pageResponse(page.html)
        }
        router.post("/products/:id/extensions", use: extend)
    }

    private func extend(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (visitor, form) = try await acts.asked(request, context, as: .support)
        let product = try ProductRoutes.id(of: context)
        let back = MassExtensionForm.back(to: product)
        let wish = try MassExtensionForm.wish(of: product, in: form)
        let reason = try ActFormRules.reason(in: form, back: back)
        try ActFormRules.requireTyped("\(product)", in: form, back: back)
        let made = try await acts.extend(
            "extend all subscribers",
            on: "\(product)",
            by: visitor,
            back: back
        ) {
            try await desk.extendAll(
                wish.request(because: reason),
                key: wish.key,
                token: visitor.session.token
            )
        }
        return Response(status: .seeOther, headers: [.location: MassExtensionPage.path(of: made)])
    }

    private func listed(_ context: StoreRequestContext) async throws -> ListedMassExtension {
        guard let number = context.parameters.get("number").flatMap({ Int64($0) }) else {
            throw ConsoleProblem.notFound
        }
        return try await desk.massExtension(number, of: try ProductRoutes.id(of: context))
    }
}
