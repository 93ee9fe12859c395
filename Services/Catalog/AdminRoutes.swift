import EventTypes
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI
import StoreTracing

/// The catalog's HTTP routes for administrators: single products, and the whole catalog as a
/// document.
struct AdminRoutes: Sendable {
    /// The maximum size of one product's body: enough for a hundred languages with the longest
    /// texts.
    static let productBytesMax = 1024 * 1024

    let handler: CatalogHandler
    let importBytesMax: Int
    let processor: ChargingProcessor

    func add(to router: StoreRouter) {
        let product = RouterPath(Routes.adminProducts + "/:id")
        router.admin
            .get(product, use: readProduct)
            .put(product, use: putProduct)
            .delete(product, use: takeProductOffSale)
        router.admin
            .get(RouterPath(Routes.adminCatalog), use: exportCatalog)
            .put(RouterPath(Routes.adminCatalog), use: importCatalog)
    }

    @Sendable
    private func readProduct(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let id = try productID(context)
        guard let product = try await handler.product(id) else {
            throw Self.problem(for: .unknown(id))
        }
        let tag = Preconditions.tag(ofVersion: product.version)
        // A scheduled price comes into force without a new version.
        let isFresh =
            product.priceChanges.isEmpty
            && Preconditions.isFresh(ifNoneMatch: request.headers[.ifNoneMatch], tag: tag)
        guard !isFresh else {
            return Response(status: .notModified, headers: [.eTag: tag])
        }
        return try jsonResponse(product, headers: [.eTag: tag])
    }

    @Sendable
    private func putProduct(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let administrator = try context.requireAdministrator()
        let precondition = try precondition(of: request)
        let json = try await decodeBody(JSONValue.self, from: request, upTo: Self.productBytesMax)
        let read = ProductDraftReader.read(json, id: try context.parameters.require("id"))
        guard let product = read.product else { throw Self.invalidProduct(read.problems) }
        let problems = ChargeablePrices.problems(of: product.draft, product.id, by: processor)
        guard problems.isEmpty else { throw Self.invalidProduct(problems) }
        let edit = ProductRules.Edit(
            id: product.id,
            wish: .put(product.draft),
            precondition: precondition
        )
        return try await apply(edit, by: administrator, context.trace)
    }

    @Sendable
    private func takeProductOffSale(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let administrator = try context.requireAdministrator()
        let edit = ProductRules.Edit(
            id: try productID(context),
            wish: .takeOffSale,
            precondition: try precondition(of: request)
        )
        return try await apply(edit, by: administrator, context.trace)
    }

    @Sendable
    private func exportCatalog(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let (document, version) = try await handler.document()
        return try jsonResponse(
            document,
            headers: [.eTag: Preconditions.tag(ofVersion: version)]
        )
    }

    @Sendable
    private func importCatalog(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let administrator = try context.requireAdministrator()
        let precondition = try precondition(of: request)
        let json = try await decodeBody(
            JSONValue.self,
            from: request,
            upTo: importBytesMax,
            within: .seconds(60)
        )
        let read = CatalogDocumentReader.read(json)
        let problems =
            read.problems
            + read.products.flatMap {
                ChargeablePrices.problems(of: $0.draft, $0.id, by: processor)
            }
        guard problems.isEmpty else { throw invalidCatalog(problems) }
        let reply = try await handler.apply(
            read.products.map { ProductRules.Edit(id: $0.id, wish: .put($0.draft)) },
            groups: read.groups,
            if: precondition,
            by: administrator.name.rawValue,
            trace: context.trace
        )
        switch reply {
        case .decided(let decisions): return try jsonResponse(result(of: decisions))
        case .isAtOtherVersion(let version): throw Self.catalogChanged(to: version)
        }
    }

    /// Counts the decisions of an import.
    ///
    /// - Throws: ``HTTPProblem`` with all refusals, if an edit is refused.
    private func result(of decisions: CatalogDecisions) throws -> CatalogImportResult {
        var result = CatalogImportResult(created: 0, changed: 0, unchanged: 0)
        var problems: [ProductProblem] = []
        for decision in decisions.products {
            switch decision {
            case .created: result.created += 1
            case .changed: result.changed += 1
            case .unchanged: result.unchanged += 1
            case .refused(let refusal): problems.append(Self.productProblem(for: refusal))
            }
        }
        for decision in decisions.groups {
            switch decision {
            case .created: result.created += 1
            case .changed: result.changed += 1
            case .unchanged: result.unchanged += 1
            case .unknown(let id):
                problems.append(GroupRules.problem(of: id.rawValue, "", "has no product"))
            }
        }
        guard problems.isEmpty else { throw invalidCatalog(problems, status: .conflict) }
        return result
    }

    private func apply(
        _ edit: ProductRules.Edit,
        by administrator: AuthenticatedAdministrator,
        _ trace: TraceContext
    ) async throws -> Response {
        let reply = try await handler.apply([edit], by: administrator.name.rawValue, trace: trace)
        guard case .decided(let decisions) = reply, let decision = decisions.products.first else {
            preconditionFailure("One edit has one decision.")
        }
        switch decision {
        case .refused(let refusal): throw Self.problem(for: refusal)
        case .created(let product):
            return try jsonResponse(
                product,
                status: .created,
                headers: [
                    .eTag: Preconditions.tag(ofVersion: product.version),
                    .location: Routes.adminProduct(product.id),
                ]
            )
        case .changed(let product), .unchanged(let product):
            return try jsonResponse(
                product,
                headers: [.eTag: Preconditions.tag(ofVersion: product.version)]
            )
        }
    }

    private func productID(_ context: StoreRequestContext) throws -> ProductID {
        let name = try context.parameters.require("id")
        guard let id = ProductID(rawValue: name) else {
            throw HTTPProblem.notFound(
                "'\(ProductProblem.shortened(name))' is not \(ProductID.form)."
            )
        }
        return id
    }

    private func precondition(of request: Request) throws -> ProductRules.Precondition {
        let precondition = Preconditions.ofChange(
            ifMatch: request.headers[.ifMatch],
            ifNoneMatch: request.headers[.ifNoneMatch]
        )
        guard let precondition else {
            throw HTTPProblem(
                .badRequest,
                code: "precondition_invalid",
                title: "The precondition cannot be understood",
                detail: "Send If-Match with the ETag of what you read, or If-None-Match: *."
            )
        }
        return precondition
    }

    private static func invalidProduct(_ problems: [ProductProblem]) -> HTTPProblem {
        HTTPProblem(
            .unprocessableContent,
            code: "product_invalid",
            title: "The product is invalid",
            detail: ProductProblem.report(problems)
        )
    }

    private func invalidCatalog(
        _ problems: [ProductProblem],
        status: HTTPResponse.Status = .unprocessableContent
    ) -> HTTPProblem {
        HTTPProblem(
            status,
            code: "catalog_invalid",
            title: "The catalog is invalid; nothing was changed",
            detail: ProductProblem.report(problems)
        )
    }

    private static func catalogChanged(to version: Int) -> HTTPProblem {
        HTTPProblem(
            .preconditionFailed,
            code: "precondition_failed",
            title: "The catalog is not as expected; nothing was changed",
            detail: "It is at version \(version). Read it again, then repeat the change."
        )
    }

    /// Converts a refusal into one of the problems of a document.
    private static func productProblem(for refusal: ProductRules.Refusal) -> ProductProblem {
        switch refusal {
        case .typeChange(let id, let from, let to):
            ProductProblem(
                productID: id.rawValue,
                field: "type",
                problem: "is \(to), but the product is a \(from) and stays one"
            )
        case .groupChange(let id, let from, let to):
            ProductProblem(
                productID: id.rawValue,
                field: "subscription.groupID",
                problem: "is \(to.map(\.rawValue) ?? "missing"), but the product is in group "
                    + "\(from) and stays there"
            )
        case .periodChange(let id, let from, let to):
            ProductProblem(
                productID: id.rawValue,
                field: "subscription.period",
                problem: "is \(to), but the product's periods are \(from) and stay so"
            )
        case .sharingEnd(let id):
            ProductProblem(
                productID: id.rawValue,
                field: "isFamilyShareable",
                problem: "is false, but families share the product and go on sharing it"
            )
        case .pastPriceChange(let id, let storefront, let time):
            ProductProblem(
                productID: id.rawValue,
                field: "priceChanges.\(storefront).from",
                problem: "is \(time), which has passed: put the price into prices"
            )
        case .samePriceChange(let id, let storefront):
            ProductProblem(
                productID: id.rawValue,
                field: "priceChanges.\(storefront).price",
                problem: "is the price that prices has already"
            )
        case .unknown(let id), .precondition(let id, _):
            ProductProblem(productID: id.rawValue, field: "", problem: "is not there")
        }
    }

    /// Converts a refusal into the answer to a request about one product.
    static func problem(for refusal: ProductRules.Refusal) -> HTTPProblem {
        switch refusal {
        case .unknown(let id):
            HTTPProblem(
                .notFound,
                code: "product_unknown",
                title: "There is no such product",
                detail: "The catalog has no product \(id)."
            )
        case .typeChange(let id, let from, let to):
            HTTPProblem(
                .conflict,
                code: "product_type_fixed",
                title: "A product's type never changes",
                detail: "\(id) is a \(from) and cannot become a \(to). Make another product."
            )
        case .groupChange(let id, let from, _):
            HTTPProblem(
                .conflict,
                code: "subscription_group_fixed",
                title: "A subscription never leaves its group",
                detail: "\(id) is in group \(from). Make another product in the other group."
            )
        case .periodChange(let id, let from, let to):
            HTTPProblem(
                .conflict,
                code: "subscription_period_fixed",
                title: "The length of a subscription's periods never changes",
                detail: "\(id) has periods of \(from). Make another product for \(to), at the same "
                    + "level of the group."
            )
        case .sharingEnd(let id):
            HTTPProblem(
                .conflict,
                code: "family_sharing_fixed",
                title: "A product that families share stays so",
                detail: "\(id) was sold to be shared. Make another product that is not."
            )
        case .pastPriceChange(let id, let storefront, let time):
            HTTPProblem(
                .conflict,
                code: "price_change_past",
                title: "A price is scheduled for a time that has passed",
                detail:
                    "The change of \(id) in \(storefront) is for \(time). Name a later time, or "
                    + "set the price itself."
            )
        case .samePriceChange(let id, let storefront):
            HTTPProblem(
                .conflict,
                code: "price_change_none",
                title: "The scheduled price is the present one",
                detail: "\(id) in \(storefront) costs this already. Leave the change out."
            )
        case .precondition(let id, let version?):
            HTTPProblem(
                .preconditionFailed,
                code: "precondition_failed",
                title: "The product is not as expected",
                detail: "\(id) is at version \(version). Read it again, then repeat the change."
            )
        case .precondition(let id, nil):
            HTTPProblem(
                .preconditionFailed,
                code: "precondition_failed",
                title: "The product is not as expected",
                detail: "The catalog has no product \(id)."
            )
        }
    }
}
