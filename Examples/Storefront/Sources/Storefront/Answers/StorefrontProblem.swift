import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// A refusal or failure that is sent to the page as `application/problem+json`.
///
/// Refusals of the store pass through as they are; these are this server's own. `service` tells the
/// page which service is away.
struct StorefrontProblem: Error, Equatable, Codable {
    var status: Int
    var code: String
    var title: String
    var detail: String
    var service: String?

    /// The service cannot be reached.
    static func away(_ service: StoreService) -> StorefrontProblem {
        StorefrontProblem(
            status: 502,
            code: "service_away",
            title: "A service of the store is away",
            detail: "\(service.rawValue) cannot be reached. No payment is lost or made twice.",
            service: service.rawValue
        )
    }

    /// The service did not answer in time.
    static func slow(_ service: StoreService) -> StorefrontProblem {
        StorefrontProblem(
            status: 504,
            code: "service_slow",
            title: "A service of the store did not answer in time",
            detail: "\(service.rawValue) did not answer. No payment is lost or made twice.",
            service: service.rawValue
        )
    }

    /// The store does not take this server's tokens, which no buyer can mend.
    static func tokenRefused(by service: StoreService) -> StorefrontProblem {
        StorefrontProblem(
            status: 502,
            code: "token_refused",
            title: "The store does not know this server",
            detail: "\(service.rawValue) refused the token that this server signed. "
                + "Has the store the public key of this app?",
            service: service.rawValue
        )
    }

    /// A refusal of the store where this server needed an answer.
    static func refused(
        by service: StoreService,
        _ status: Int,
        _ body: Data
    ) -> StorefrontProblem {
        if var problem = try? JSONDecoder().decode(StorefrontProblem.self, from: body) {
            problem.service = service.rawValue
            return problem
        }
        return StorefrontProblem(
            status: status,
            code: "store_failed",
            title: "The store failed",
            detail: "\(service.rawValue) answered \(status).",
            service: service.rawValue
        )
    }

    /// There is no session: signed out, expired, or never begun.
    static let signedOut = StorefrontProblem(
        status: 401,
        code: "signed_out",
        title: "You are signed out",
        detail: "The session has ended. Sign in again; nothing that you bought is lost."
    )

    /// A request that a page of this server would not send.
    static func badRequest(_ code: String, _ detail: String) -> StorefrontProblem {
        StorefrontProblem(status: 400, code: code, title: "The request is wrong", detail: detail)
    }

    /// Nothing is at this path.
    static let notFound = StorefrontProblem(
        status: 404,
        code: "not_found",
        title: "Not found",
        detail: "There is nothing here."
    )

    /// The problem as a response.
    var response: Response {
        // The members are texts and a number, which always encode.
        let body = (try? JSONEncoder().encode(self)) ?? Data()
        return Response(
            status: HTTPResponse.Status(code: status),
            headers: [.contentType: "application/problem+json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
