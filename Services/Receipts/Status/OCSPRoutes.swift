import Crypto
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit

/// The status of certificates over HTTP, open to anyone (RFC 6960, appendix A).
///
/// The request is a POST, or a GET in base64, which caches may store (RFC 5019).
struct OCSPRoutes: Sendable {
    static let path = "/ocsp"

    let directory: OCSPDirectory
    let now: @Sendable () -> MachineTime

    /// Adds the routes.
    func add(to router: StoreRouter) {
        router.open
            .post(RouterPath(Self.path), use: post)
            .get(RouterPath("\(Self.path)/**"), use: get)
    }

    @Sendable private func post(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        let body = try await collectBody(of: request, upTo: OCSPRequest.lengthMax)
        return try answer(Array(body.readableBytesView), mayBeKept: false)
    }

    @Sendable private func get(
        _ request: Request,
        _ context: StoreRequestContext
    ) async throws -> Response {
        // Malformed base64 counts as an empty request, which the responder answers as malformed.
        let encoded = request.uri.path.dropFirst(Self.path.count + 1)
        let bytes =
            encoded.utf8.count > 2 * OCSPRequest.lengthMax
            ? nil : String(encoded).removingPercentEncoding.flatMap { Data(base64Encoded: $0) }
        return try answer(Array(bytes ?? Data()), mayBeKept: true)
    }

    private func answer(_ request: [UInt8], mayBeKept: Bool) throws -> Response {
        let now = now()
        let answer = try directory.responder(at: now).answer(request, at: now)
        var headers: HTTPFields = [.contentType: "application/ocsp-response"]
        if mayBeKept, let freshUntil = answer.freshUntil {
            let seconds = freshUntil.duration(since: now).components.seconds
            headers[.cacheControl] = "public, max-age=\(seconds), must-revalidate, no-transform"
            headers[.eTag] = "\"\(Insecure.SHA1.hash(data: answer.bytes).hexadecimal)\""
        } else {
            headers[.cacheControl] = "no-store"
        }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.bytes))
        )
    }
}

extension Sequence<UInt8> {
    /// Returns the bytes in hexadecimal.
    fileprivate var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}
