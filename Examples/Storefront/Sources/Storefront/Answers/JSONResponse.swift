import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Returns a value as a response in JSON.
func jsonResponse(_ value: some Encodable) throws -> Response {
    Response(
        status: .ok,
        headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(value)))
    )
}
