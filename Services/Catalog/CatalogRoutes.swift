import Crypto
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit
import StoreAPI

/// The catalog's HTTP routes for buyers; those for administrators are in ``AdminRoutes``.
struct CatalogRoutes: Sendable {
    /// The maximum number of identifiers in a products request.
    static let identifierCountMax = 200
    /// The number of products on a page of everything on sale.
    static let pageSize = 200

    let priceList: CurrentPriceList
    let now: @Sendable () -> StoreTime

    func add(to router: StoreRouter) {
        router.account.get(RouterPath(Routes.products), use: products)
    }

    @Sendable
    private func products(_ request: Request, _ context: StoreRequestContext) throws -> Response {
        let query = request.uri.queryParameters
        let answer = try answer(query)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(answer)
        let tag = Self.entityTag(of: body)
        // Prices may change at any moment (spec rule 103), so a client revalidates with the tag
        // each time.
        var headers: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache"]
        if Preconditions.isFresh(ifNoneMatch: request.headers[.ifNoneMatch], tag: tag) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = "application/json"
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }

    /// The products that are asked for by id or, without ids, a page of everything on sale.
    private func answer(_ query: Parameters) throws -> ProductsResponse {
        guard query.get("ids") == nil else {
            guard query.get("after") == nil else {
                throw invalid("Either name the products (ids) or turn pages (after).")
            }
            return try priceList.current().response(
                to: identifiers(query),
                in: storefront(query),
                language: language(query),
                at: now()
            )
        }
        return try priceList.current().page(
            in: storefront(query),
            language: language(query),
            after: previous(query),
            countMax: Self.pageSize,
            at: now()
        )
    }

    private func previous(_ query: Parameters) throws -> ProductID? {
        guard let name = query.get("after") else { return nil }
        guard let id = ProductID(rawValue: name) else {
            throw invalid("'\(ProductProblem.shortened(name))' is not \(ProductID.form).")
        }
        return id
    }

    private func identifiers(_ query: Parameters) throws -> [String] {
        let identifiers = query.getAll("ids").flatMap { $0.split(separator: ",") }.map(String.init)
        guard !identifiers.isEmpty else { throw invalid("Name the products: ids=a,b.") }
        guard identifiers.count <= Self.identifierCountMax else {
            throw invalid(
                "Ask for \(Self.identifierCountMax) products at most; these are "
                    + "\(identifiers.count)."
            )
        }
        return identifiers
    }

    private func storefront(_ query: Parameters) throws -> Storefront {
        guard let name = query.get("storefront"), !name.isEmpty else {
            throw invalid("Name the storefront: storefront=USA.")
        }
        guard let storefront = Storefront(rawValue: name) else {
            throw HTTPProblem(
                .badRequest,
                code: "storefront_unknown",
                title: "There is no such storefront",
                detail: "'\(ProductProblem.shortened(name))' is not \(Storefront.form)."
            )
        }
        return storefront
    }

    private func language(_ query: Parameters) throws -> LanguageTag {
        guard let tag = query.get("language"), !tag.isEmpty else {
            return LanguageTag(unchecked: "en")
        }
        guard let language = LanguageTag(rawValue: tag) else {
            throw invalid("'\(ProductProblem.shortened(tag))' is not \(LanguageTag.form).")
        }
        return language
    }

    private func invalid(_ detail: String) -> HTTPProblem {
        HTTPProblem(
            .badRequest,
            code: "query_invalid",
            title: "The query is invalid",
            detail: detail
        )
    }

    /// A strong entity tag, which is the same for the same bytes on every replica.
    static func entityTag(of body: some DataProtocol) -> String {
        let digits = SHA256.hash(data: body).prefix(16).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
        }
        return "\"\(digits.joined())\""
    }
}
