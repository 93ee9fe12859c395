import EventTypes
import HTTPTypes
import ServiceKit

/// The problems reported when a content cannot be stored or downloaded.
enum HostedContentProblem {
    static let productMalformed = HTTPProblem(
        .badRequest,
        code: "product_malformed",
        title: "The product's id cannot be understood",
        detail: "Name \(ProductID.form)."
    )
    static let versionMalformed = HTTPProblem(
        .badRequest,
        code: "content_version_malformed",
        title: "The content's version cannot be understood",
        detail: "Name \(ContentVersion.form): version=1.0."
    )
    static let digestMalformed = HTTPProblem(
        .badRequest,
        code: "content_digest_malformed",
        title: "The content's digest cannot be understood",
        detail: "Send sha256=<64 hexadecimal digits>, or Repr-Digest: sha-256=:<base64>:, or none."
    )
    static let lengthRequired = HTTPProblem(
        .lengthRequired,
        code: "content_length_required",
        title: "The content's length is needed",
        detail: "Send Content-Length, and no Transfer-Encoding."
    )
    static let empty = HTTPProblem(
        .badRequest,
        code: "content_empty",
        title: "The content is empty",
        detail: "Send the content's bytes as the body."
    )
    static let incomplete = HTTPProblem(
        .badRequest,
        code: "content_incomplete",
        title: "The content is incomplete",
        detail: "The number of bytes differs from Content-Length. Upload it again."
    )
    static let digestDiffers = HTTPProblem(
        .badRequest,
        code: "content_digest_differs",
        title: "The content does not match its digest",
        detail: "The received bytes have a different SHA-256. Upload it again."
    )
    static let storageFull = HTTPProblem(
        HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"),
        code: "storage_full",
        title: "The storage is full",
        detail: "No room is left where the store keeps content. Make some, then upload again."
    )

    static func productCount(max: Int) -> HTTPProblem {
        HTTPProblem(
            .badRequest,
            code: "query_invalid",
            title: "The query is invalid",
            detail: "Name 1 to \(max) products: ids=a,b."
        )
    }

    static func tooLarge(_ lengthMax: Int64) -> HTTPProblem {
        HTTPProblem(
            .contentTooLarge,
            code: "content_too_large",
            title: "The content is too large",
            detail: "A content may have \(lengthMax) bytes at most (CONTENT_LENGTH_MAX)."
        )
    }

    static func versionTaken(_ version: ContentVersion) -> HTTPProblem {
        HTTPProblem(
            .conflict,
            code: "content_version_taken",
            title: "The version has another content",
            detail: "Version \(version) of the product was uploaded with other bytes; name another."
        )
    }

    static func refused(_ refusal: CapacityRefusal) -> HTTPProblem {
        refusal.problem(
            of: "downloads",
            code: "too_many_downloads",
            "Let a download of this account end before beginning another."
        )
    }

    static func rangeNotSatisfiable(length: Int64) -> HTTPProblem {
        var problem = HTTPProblem(
            .rangeNotSatisfiable,
            code: "range_not_satisfiable",
            title: "The range is not in the content",
            detail: "The content has \(length) bytes."
        )
        problem.headers[.contentRange] = "bytes */\(length)"
        return problem
    }

    static func refused(_ refusal: HostedContentRules.Refusal) -> HTTPProblem {
        let (title, detail) =
            switch refusal {
            case .unknown: TransactionProblem.unknown
            case .finished:
                (
                    "The transaction is finished",
                    "Restore the purchase; the restored transaction downloads until it is finished."
                )
            case .purchasing: TransactionProblem.purchasing
            case .deferred: TransactionProblem.deferred
            case .failed:
                ("The transaction has failed", "Only what was paid can be downloaded.")
            case .revoked:
                ("The transaction is refunded", "Refunded content cannot be downloaded.")
            case .unknownState:
                TransactionProblem.unknownState(
                    "A newer version of the store has to serve its content."
                )
            case .noContent:
                ("There is no such content", "Nothing of that name and version is hosted here.")
            }
        return HTTPProblem(
            refusal == .unknown || refusal == .noContent ? .notFound : .conflict,
            code: refusal.rawValue,
            title: title,
            detail: detail
        )
    }
}
