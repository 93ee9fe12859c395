import Foundation
import HTTPTypes

/// A path of this server that is passed on to the store, with a token for the buyer added.
///
/// Nothing that is not in this table reaches the store in a buyer's name.
struct RelayedRoute: Sendable, Hashable {
    /// The method, here and at the store.
    let method: HTTPRequest.Method
    /// The path of this server, in Hummingbird's form.
    let path: String
    /// The service that answers.
    let service: StoreService
    /// The path of the store, with the same parameters.
    let storePath: String
    /// The parameters of the query that are passed on.
    var query: [String] = []
    /// Whether the store takes the region in which the buyer shops.
    var hasStorefront = false

    /// Every path that is passed on.
    static let all = [
        RelayedRoute(
            method: .get,
            path: "/api/products",
            service: .catalog,
            storePath: "/v1/products",
            query: ["language", "after"],
            hasStorefront: true
        ),
        RelayedRoute(.get, "account", .payments),
        RelayedRoute(.post, "payments", .payments),
        RelayedRoute(.post, "restores", .payments),
        RelayedRoute(.get, "introductory-offers/:group", .payments),
        RelayedRoute(.get, "subscriptions", .payments),
        RelayedRoute(.put, "subscriptions/:id/auto-renew", .payments),
        RelayedRoute(.put, "subscriptions/:id/product", .payments),
        RelayedRoute(.put, "subscriptions/:id/payment-method", .payments),
        RelayedRoute(.put, "subscriptions/:id/price-increase", .payments),
        RelayedRoute(
            method: .get,
            path: "/api/queue",
            service: .fulfillment,
            storePath: "/v1/queue",
            query: ["lastEventID"]
        ),
        RelayedRoute(.get, "credits", .fulfillment),
        RelayedRoute(.post, "transactions/:id/finish", .fulfillment),
        RelayedRoute(.get, "transactions/:id/content/:product", .fulfillment),
        // The bank of a sandbox. A real one has pages of its own.
        RelayedRoute(.post, "sandbox/actions/:id", .payments),
    ]

    /// The headers of a request that are passed on.
    ///
    /// Cookies are not among them.
    static let requestHeaders = [
        "accept", "content-type", "idempotency-key", "if-range", "last-event-id", "range",
        "traceparent",
    ]

    /// The headers of an answer that are passed on.
    static let answerHeaders = [
        "accept-ranges", "content-disposition", "content-range", "content-type", "etag",
        "queue-database", "queue-revision", "retry-after",
    ]

    /// Returns the path and query of the store's route.
    ///
    /// - Parameters:
    ///   - parameters: The values of the path's parameters.
    ///   - values: The query of the request.
    ///   - storefront: The region in which the buyer shops.
    /// - Returns: The path.
    /// - Throws: ``StorefrontProblem`` for a parameter that is no id.
    func target(
        parameters: [String: String],
        query values: [String: String],
        storefront: String
    ) throws(StorefrontProblem) -> String {
        var parts: [Substring] = []
        for part in storePath.split(separator: "/") {
            guard part.first == ":" else {
                parts.append(part)
                continue
            }
            guard let value = parameters[String(part.dropFirst())], Self.isID(value) else {
                throw .notFound
            }
            parts.append(Substring(value))
        }
        var pairs = query.compactMap { name in values[name].map { "\(name)=\(Self.encoded($0))" } }
        if hasStorefront { pairs.append("storefront=\(storefront)") }
        let path = "/" + parts.joined(separator: "/")
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    /// Whether a text is an id of the store: neither a path nor a query can hide in it.
    static func isID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text != "." && text != ".."
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic
                        || "0123456789._-".unicodeScalars.contains(scalar))
            }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension RelayedRoute {
    /// A route that has the same path at the store: `/api/credits` is `/v1/credits`.
    private init(_ method: HTTPRequest.Method, _ path: String, _ service: StoreService) {
        self.init(
            method: method,
            path: "/api/" + path,
            service: service,
            storePath: "/v1/" + path
        )
    }
}
