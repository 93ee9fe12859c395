import EventTypes
import Hummingbird
import ServiceKit
import StoreAPI
import Subscriptions

/// The HTTP routes by which administrators extend all subscribers of a product.
struct MassExtensionRoutes: Sendable {
    let masses: MassExtensionHandler

    func add(to router: StoreRouter) {
        router.admin.post(RouterPath(Routes.adminMassExtensions), use: extend)
    }

    /// Accepts a request, once for an `Idempotency-Key` and a product, and tells how far it has come.
    @Sendable
    private func extend(_ request: Request, _ context: StoreRequestContext) async throws
        -> Response
    {
        let key = try request.requireIdempotencyKey()
        let body = try await decodeBody(MassExtensionRequest.self, from: request)
        guard (1...RequestedExtension.daysMax).contains(body.days) else {
            throw HTTPProblem.extensionOutOfRange
        }
        guard body.storefronts?.isEmpty != true else {
            throw HTTPProblem.badRequest(
                "storefronts_empty",
                "There are no storefronts",
                "Leave `storefronts` out for all of them."
            )
        }
        let reply = try await masses.accept(
            MassExtension(
                number: 0,
                bundleID: body.bundleID,
                productID: body.productID,
                requestIdentifier: key.rawValue,
                days: body.days,
                reasonCode: body.reasonCode?.rawValue ?? 0,
                storefronts: body.storefronts,
                acceptedAt: masses.context.now()
            ),
            by: try context.act(because: body.reason),
            trace: context.trace
        )
        switch reply {
        case .accepted(let accepted):
            return try jsonResponse(MassExtensionResponse(request: accepted))
        case .differs: throw HTTPProblem.idempotencyKeyReused
        case .unknownProduct:
            throw HTTPProblem(
                .notFound,
                code: "product_unknown",
                title: "The product is not known",
                detail: "Only products that are subscriptions have subscribers to extend."
            )
        }
    }
}

extension HTTPProblem {
    /// A number of days that no subscription is extended by.
    static let extensionOutOfRange = HTTPProblem.badRequest(
        "extension_out_of_range",
        "The extension is out of range",
        "A subscription is extended by 1 to \(RequestedExtension.daysMax) days."
    )
}
