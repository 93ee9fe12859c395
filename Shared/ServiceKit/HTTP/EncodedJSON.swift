import Foundation
public import HTTPTypes
public import Hummingbird
import NIOCore

/// Makes a response whose body is JSON.
///
/// - Parameters:
///   - value: The value to encode.
///   - status: The HTTP status.
///   - headers: Further headers.
/// - Returns: The response.
/// - Throws: `EncodingError` if the value cannot be encoded.
public func jsonResponse(
    _ value: some Encodable,
    status: HTTPResponse.Status = .ok,
    headers: HTTPFields = [:]
) throws -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    let body = try encodedJSON(value)
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
}

/// The value as JSON.
///
/// Equal values give equal bytes.
func encodedJSON(_ value: some Encodable) throws -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return ByteBuffer(bytes: try encoder.encode(value))
}
