import EventTypes
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceKit
import ServiceLifecycle
import StoreAPI

/// The routes for administrators' hosted contents and accounts' downloads.
struct HostedContentRoutes: Sendable {
    /// The largest number of products that one request may name.
    static let productCountMax = 200

    let handler: HostedContentHandler
    let permits: DownloadPermits
    let lengthMax: Int64
    let logger: Logger

    func add(to router: StoreRouter) {
        router.admin
            .put(RouterPath("\(Routes.adminProducts)/:productID/content"), use: upload)
            .get(RouterPath("\(Routes.adminProducts)/:productID/content"), use: versions)
            .delete(
                RouterPath("\(Routes.adminProducts)/:productID/content/:version"),
                use: withdraw
            )
        router.account
            .get(RouterPath(Routes.contents), use: offered)
            .get(RouterPath("\(Routes.transactions)/:id/content/:identifier"), use: download)
    }

    // MARK: - Administrators

    @Sendable private func upload(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        // The bytes are stored and hashed as they are sent, so no encoding is allowed.
        try refuseContentEncoding(of: request)
        let upload = ContentUpload(
            productID: try context.requireProductID(),
            version: try Self.version(request.uri.queryParameters["version"].map { String($0) }),
            length: try length(of: request),
            digest: try Self.digest(of: request)
        )
        let outcome: ContentUploadOutcome
        do {
            // A shutdown does not wait for a sender or the storage. The sender repeats the upload.
            outcome = try await cancelWhenGracefulShutdown {
                try await handler.upload(upload, from: request.body)
            }
        } catch let error as ContentStorageError where error.code == .full {
            logger.error(
                "there is no room for content",
                metadata: [
                    "product.id": "\(upload.productID)", "content.version": "\(upload.version)",
                    "error": "\(error)",
                ]
            )
            throw HostedContentProblem.storageFull
        }
        switch outcome {
        case .recorded(.new(let version)): return try jsonResponse(version, status: .created)
        case .recorded(.known(let version)): return try jsonResponse(version)
        case .recorded(.taken): throw HostedContentProblem.versionTaken(upload.version)
        case .incomplete: throw HostedContentProblem.incomplete
        case .digestDiffers: throw HostedContentProblem.digestDiffers
        }
    }

    @Sendable private func versions(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        try jsonResponse(
            HostedContentsResponse(
                contents: try await handler.versions(of: try context.requireProductID())
            )
        )
    }

    @Sendable private func withdraw(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let productID = try context.requireProductID()
        let version = try Self.version(context.parameters.get("version"))
        guard let withdrawn = try await handler.withdraw(version, of: productID) else {
            throw HostedContentProblem.refused(.noContent)
        }
        return try jsonResponse(withdrawn)
    }

    /// Returns the length of the body, without which a truncated body could not be detected.
    private func length(of request: Request) throws -> Int64 {
        guard let length = request.headers[.contentLength].flatMap({ Int64($0) }) else {
            throw HostedContentProblem.lengthRequired
        }
        guard length > 0 else { throw HostedContentProblem.empty }
        guard length <= lengthMax else { throw HostedContentProblem.tooLarge(lengthMax) }
        return length
    }

    private static func version(_ text: String?) throws -> ContentVersion {
        guard let version = text.flatMap({ ContentVersion(rawValue: $0) }) else {
            throw HostedContentProblem.versionMalformed
        }
        return version
    }

    private static func digest(of request: Request) throws -> ContentDigest? {
        let claim = HostedContentRules.claim(
            hexadecimal: request.uri.queryParameters["sha256"].map { String($0) },
            field: HTTPField.Name("Repr-Digest").flatMap { request.headers[$0] }
        )
        switch claim {
        case .none: return nil
        case .digest(let digest): return digest
        case .malformed: throw HostedContentProblem.digestMalformed
        }
    }

    // MARK: - Accounts

    @Sendable private func offered(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let ids = request.uri.queryParameters.getAll("ids").flatMap { $0.split(separator: ",") }
        guard !ids.isEmpty, ids.count <= Self.productCountMax else {
            throw HostedContentProblem.productCount(max: Self.productCountMax)
        }
        // A string that is not a product id has no content.
        let products = Set(ids.compactMap { ProductID(rawValue: String($0)) })
        return try jsonResponse(
            OfferedContentsResponse(contents: try await handler.offered(of: products))
        )
    }

    @Sendable private func download(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let queue = try context.requireQueue()
        guard let id = context.transactionID else { throw HostedContentProblem.refused(.unknown) }
        guard
            let identifier = context.parameters.get("identifier")
                .flatMap({ ProductID(rawValue: $0) })
        else { throw HostedContentProblem.refused(.noContent) }
        switch try await handler.download(identifier, of: id, from: queue) {
        case .refused(let refusal): throw HostedContentProblem.refused(refusal)
        case .download(let content): return try await response(to: request, with: content, queue)
        }
    }

    private func response(
        to request: Request,
        with content: HostedContent,
        _ queue: QueueKey
    ) async throws -> Response {
        let entityTag = ByteRangeRules.entityTag(of: content.sha256)
        let answer = ByteRangeRules.answer(
            // Ranges are defined for GET only.
            range: request.method == .get ? request.headers[.range] : nil,
            ifRange: request.headers[.ifRange],
            entityTag: entityTag,
            length: content.length
        )
        var headers: HTTPFields = [
            .eTag: entityTag, .acceptRanges: "bytes", .cacheControl: "private",
            .contentType: "application/octet-stream",
        ]
        guard request.method != .head else {
            try await cancelWhenGracefulShutdown { try await handler.find(content) }
            let body = ResponseBody(contentLength: Int(content.length)) { try await $0.finish(nil) }
            return Response(status: .ok, headers: headers, body: body)
        }
        switch answer {
        case .whole:
            let body = try await body(of: content, 0..<content.length, queue)
            return Response(status: .ok, headers: headers, body: body)
        case .part(let range):
            headers[.contentRange] =
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.length)"
            let body = try await body(of: content, range, queue)
            return Response(status: .partialContent, headers: headers, body: body)
        case .unsatisfiable:
            throw HostedContentProblem.rangeNotSatisfiable(length: content.length)
        }
    }

    /// Returns the bytes of a range, read as fast as the client receives them.
    ///
    /// A shutdown ends the download. The client resumes with a range.
    private func body(
        of content: HostedContent,
        _ range: Range<Int64>,
        _ queue: QueueKey
    ) async throws -> ResponseBody {
        let permit: DownloadPermit
        do {
            permit = try permits.take(for: queue)
        } catch {
            throw HostedContentProblem.refused(error)
        }
        // Before the head of the response, so that missing bytes are answered with a problem.
        let reader = try await cancelWhenGracefulShutdown {
            try await handler.open(content, range: range)
        }
        return bodyUntilShutdown(contentLength: Int(range.count)) { [logger] write in
            defer { withExtendedLifetime(permit) {} }
            do {
                try await reader.read { try await write($0) }
            } catch let error as ContentStorageError {
                // The head has been sent: the client sees a lost connection, and only the log has
                // the reason.
                logger.error("a content cannot be read", metadata: ["error": "\(error)"])
                throw error
            }
        }
    }
}

extension StoreRequestContext {
    /// Returns the product id in the path.
    fileprivate func requireProductID() throws -> ProductID {
        guard let id = parameters.get("productID").flatMap({ ProductID(rawValue: $0) }) else {
            throw HostedContentProblem.productMalformed
        }
        return id
    }
}
