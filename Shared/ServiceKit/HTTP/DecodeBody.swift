import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore

/// The limits for reading a request's body.
public enum RequestBodyLimits {
    /// The largest body that is decoded, in bytes, unless the route has its own limit.
    public static let decoded = 64 * 1024
    /// The number of bytes of an oversized body that are read and discarded, so that the client
    /// gets to read the refusal.
    static let drained = 1024 * 1024
}

/// Reads a request's body and decodes it from JSON.
///
/// - Parameters:
///   - type: The type to decode.
///   - request: The request.
///   - limit: The largest body that is accepted, in bytes.
///   - timeout: The time the body may take to arrive.
///   - plain: A faster reader, for a body that comes often. It returns `nil` for what it does not read.
/// - Returns: The value.
/// - Throws: ``HTTPProblem``: 415 if the content type is not JSON or the body is encoded, 413 if it
///   is larger than the limit, 408 if it takes too long, 400 `malformed_json` naming the field and
///   what was expected.
public func decodeBody<T: Decodable>(
    _ type: T.Type,
    from request: Request,
    upTo limit: Int = RequestBodyLimits.decoded,
    within timeout: Duration = .seconds(10),
    plain: (([UInt8]) -> T?)? = nil
) async throws -> T {
    try requireJSON(request)
    let bytes = try await collectBody(of: request, upTo: limit, within: timeout)
    return try decodeJSON(type, from: bytes, plain: plain)
}

/// Reads a request's body.
///
/// - Parameters:
///   - request: The request.
///   - limit: The largest body that is accepted, in bytes.
///   - timeout: The time the body may take to arrive.
///   - admit: Called before each piece is kept, with its number of bytes. An error that it throws
///     ends the reading.
/// - Returns: The body's bytes.
/// - Throws: ``HTTPProblem``: 415 if it is encoded in any way, 413 if it is larger than the limit,
///   408 if it takes too long.
public func collectBody(
    of request: Request,
    upTo limit: Int = RequestBodyLimits.decoded,
    within timeout: Duration = .seconds(10),
    admit: (Int) throws -> Void = { _ in }
) async throws -> ByteBuffer {
    try refuseContentEncoding(of: request)
    if let length = request.headers[.contentLength].flatMap({ Int($0) }),
        length > RequestBodyLimits.drained, length > limit
    {
        throw oversized(limit)
    }
    let start = ContinuousClock.now
    var collected = ByteBuffer()
    var count = 0
    for try await chunk in request.body {
        count += chunk.readableBytes
        if count <= limit {
            try admit(chunk.readableBytes)
            if collected.readableBytes == 0 {
                collected = chunk
            } else {
                collected.writeImmutableBuffer(chunk)
            }
        } else if count > max(limit, RequestBodyLimits.drained) {
            throw oversized(limit)
        }
        if ContinuousClock.now - start > timeout {
            throw tooSlow()
        }
    }
    guard count <= limit else { throw oversized(limit) }
    return collected
}

/// Decodes JSON bytes, by a faster reader if there is one and it can read them.
///
/// - Throws: ``HTTPProblem``: 400 `malformed_json` naming the field and what was expected, or the
///   fault that ``StrictJSON`` found. U+0000 is refused everywhere: PostgreSQL cannot store text
///   that contains it, so one such request would make its whole batch fail.
public func decodeJSON<T: Decodable>(
    _ type: T.Type,
    from bytes: ByteBuffer,
    plain: (([UInt8]) -> T?)? = nil
) throws -> T {
    if let fault = StrictJSON.fault(in: bytes.readableBytesView) {
        throw malformed(fault.description)
    }
    if let value = plain?(Array(bytes.readableBytesView)) { return value }
    do {
        return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
    } catch let error as DecodingError {
        throw malformed(explain(error, body: bytes))
    }
}

/// Refuses a body that is compressed or otherwise encoded; the store decodes no encoding.
///
/// - Parameter request: The request.
/// - Throws: ``HTTPProblem``: 415 `unsupported_content_encoding`, with the `Accept-Encoding` that
///   RFC 9110, section 15.5.16, requires.
public func refuseContentEncoding(of request: Request) throws {
    guard let encoding = request.headers[.contentEncoding],
        encoding.trimmingCharacters(in: .whitespaces).lowercased() != "identity"
    else { return }
    var problem = HTTPProblem(
        .unsupportedMediaType,
        code: "unsupported_content_encoding",
        title: "The body is encoded",
        detail: "Send the body without Content-Encoding; found \"\(shortened(encoding, to: 60))\"."
    )
    problem.headers[.acceptEncoding] = "identity"
    throw problem
}

private func malformed(_ detail: String) -> HTTPProblem {
    HTTPProblem(
        .badRequest,
        code: "malformed_json",
        title: "The body cannot be understood",
        detail: detail
    )
}

private func requireJSON(_ request: Request) throws {
    let type = request.headers[.contentType] ?? ""
    // Nearly every request says exactly this.
    if type == "application/json" { return }
    let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    guard essence == "application/json" else {
        let found = type.isEmpty ? "none" : "\"\(shortened(type, to: 60))\""
        throw HTTPProblem(
            .unsupportedMediaType,
            code: "unsupported_media_type",
            title: "The body is not JSON",
            detail: "Send the body with Content-Type: application/json; found \(found)."
        )
    }
}

private func oversized(_ limit: Int) -> HTTPProblem {
    HTTPProblem(
        .contentTooLarge,
        code: "body_too_large",
        title: "The body is too large",
        detail: "The body may have \(limit) bytes at most."
    )
}

private func tooSlow() -> HTTPProblem {
    var problem = HTTPProblem(
        .requestTimeout,
        code: "body_too_slow",
        title: "The body took too long",
        detail: "The whole body has to arrive within a few seconds."
    )
    problem.closesConnection = true
    return problem
}

/// A sentence about the error that names the field and what was expected, and repeats at most a few
/// characters of the input.
private func explain(_ error: DecodingError, body: ByteBuffer) -> String {
    if body.readableBytes == 0 { return "The body is empty; expected a JSON document." }
    switch error {
    case .keyNotFound(let key, let context):
        return "\(field(context.codingPath + [key])) is missing."
    case .valueNotFound(let type, let context):
        return "\(field(context.codingPath)) is null; expected \(name(of: type))."
    case .typeMismatch(let type, let context):
        return "\(field(context.codingPath)) is not \(name(of: type))."
    case .dataCorrupted(let context):
        if let reason = syntaxError(in: body) { return "The body is not JSON: \(reason)" }
        if context.codingPath.isEmpty { return "The body holds a number that is too large." }
        return "\(field(context.codingPath)): \(shortened(context.debugDescription))"
    @unknown default:
        return "The body does not have the expected form."
    }
}

/// The position of the first JSON syntax error, which the decoder does not report; `nil` if there
/// is none.
private func syntaxError(in body: ByteBuffer) -> String? {
    do {
        _ = try JSONSerialization.jsonObject(
            with: Data(body.readableBytesView),
            options: .fragmentsAllowed
        )
        return nil
    } catch {
        let reason = (error as NSError).userInfo["NSDebugDescription"] as? String
        return shortened(reason ?? "it cannot be parsed.")
    }
}

private func field(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "The document" }
    var text = ""
    for key in path {
        if let index = key.intValue {
            text += "[\(index)]"
        } else {
            text += (text.isEmpty ? "" : ".") + shortened(key.stringValue, to: 40)
        }
    }
    return "Field \(shortened(text))"
}

private func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number"
    case is any BinaryFloatingPoint.Type: "a number"
    case is any AnyDictionary.Type: "an object"
    case is any AnyArray.Type: "an array"
    default: "of the expected form"
    }
}

// The types that `DecodingError` names when a container was expected.
private protocol AnyDictionary {}
private protocol AnyArray {}
extension Dictionary: AnyDictionary {}
extension Array: AnyArray {}
