import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The news for a page that is open.
struct LiveAnswer: Encodable {
    /// A text that differs when the page has to be loaded again.
    var stamp = ""
    /// The values that stand on the page.
    var fields: [String: NowField] = [:]

    /// The answer as JSON.
    func response() throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(self)))
        )
    }
}
