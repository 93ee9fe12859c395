import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import StoreAPI

extension HTTPProblem {
    /// The problem as a response.
    func response() -> Response {
        var headers = headers
        headers.reserveCapacity(headers.count + 5)
        headers[.contentType] = "application/problem+json"
        if let retryAfter {
            let seconds = max(1, (retryAfter.milliseconds + 999) / 1000)
            headers[.retryAfter] = String(seconds)
        }
        if status == .unauthorized {
            headers[.wwwAuthenticate] = "Bearer"
        }
        if closesConnection {
            headers[.connection] = "close"
        }
        let body: ByteBuffer
        do {
            body = try encodedJSON(problem)
        } catch {
            // A problem contains only texts and whole numbers, which always encode. Should that
            // change, the status still shows the kind of problem.
            body = ByteBuffer(string: "{}")
        }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
