import EventTypes
import Hummingbird
import OperatorCore
import ServiceKit
import StoreAPI

/// Raises of the price for those who subscribe already.
///
/// Subscriptions are read with the visitor's token, too, so this needs two scopes: read or support,
/// and merchandiser.
struct RaiseRoutes: Sendable {
    let acts: ActRunner
    let desk: StoreDesk
    let seal = RaiseSeal()

    func add(to router: Router<StoreRequestContext>) {
        router.get("/products/:id/raise") { request, context in
            let visitor = try acts.door.visitor(of: request, seeing: .products)
            try acts.door.visits.require(.purchases, for: visitor)
            let product = try await subscription(of: context, visitor)
            let page = RaisePage(
                product: product,
                form: RaiseForm(),
                stage: .opened,
                seal: "",
                visitor: visitor
            )
            return pageResponse(page.html)
        }
        router.post("/products/:id/raise", use: go)
    }

    /// Counts or raises the subscriptions of one page of the store's list.
    private func go(_ request: Request, _ context: StoreRequestContext) async throws -> Response {
        let (visitor, fields) = try await acts.asked(request, as: .merchandiser)
        try acts.door.visits.require(.purchases, for: visitor)
        var form = RaiseForm(fields)
        let product = try await subscription(of: context, visitor)
        let back = ConsoleProblem.Back(
            path: RaisePage.path(of: product.id),
            words: "Back to the raise"
        )
        guard form.isFirst || seal.isOf(form, product.id, visitor, fields["seal"] ?? "") else {
            throw ConsoleProblem(
                409,
                "Nothing was done: the console does not recognize this form",
                "The console may have been started again since. Begin again: no price is raised twice.",
                back: back
            )
        }
        if fields["typed"] != nil {
            // The dialog that confirms the count begins to raise, from the first page on.
            try ActFormRules.requireTyped("\(form.counts.raised)", in: fields, back: back)
            form.step = .raise
            (form.after, form.counts) = ("", SubscriptionRaise.Counts())
        }
        if form.step == .raise { _ = try ActFormRules.reason(in: fields, back: back) }
        let raise = try form.raise(of: product, back: back)
        let connection = desk.connection(to: .payments, token: visitor.session.token)
        let place = form.after.isEmpty ? nil : TransactionID(rawValue: form.after)
        let page = try await acts.run(
            form.step == .count ? "count subscribers" : "raise subscribers",
            on: "\(product.id)",
            by: visitor,
            back: back
        ) {
            try await raise.page(after: place, over: connection)
        }
        form.counts = form.counts + page.counts
        form.after = page.next?.rawValue ?? ""
        let stage: RaisePage.Stage =
            page.next != nil ? .going : form.step == .count ? .counted : .done
        let answer = RaisePage(
            product: product,
            form: form,
            stage: stage,
            seal: seal.text(of: form, product.id, visitor),
            visitor: visitor
        )
        return pageResponse(answer.html)
    }

    private func subscription(
        of context: StoreRequestContext,
        _ visitor: Visitor
    ) async throws -> Product {
        try await ProductRoutes.subscription(of: context, at: desk, visitor).product
    }
}
