import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Sends the files of the page compressed, to browsers that accept that.
///
/// The files are compressed once, when this server starts. None has a secret, so nobody learns one
/// from the length of an answer. Data of buyers is never compressed.
struct CompressedPages: RouterMiddleware {
    typealias Context = BasicRequestContext

    private struct File: Sendable {
        let headers: HTTPFields
        let eTag: String
        let bytes: ByteBuffer
    }

    private static let types = [
        "css": "text/css; charset=utf-8", "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]

    private let files: [String: File]

    /// Compresses the files of a folder.
    ///
    /// On a machine without the program `gzip` the next middleware sends them as they are.
    init(folder: String, logger: Logger) {
        do {
            files = try Self.files(in: folder)
        } catch {
            logger.warning(
                "the page's files are sent without compression",
                metadata: ["error": "\(error)"]
            )
            files = [:]
        }
    }

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get || request.method == .head,
            let file = files[request.uri.path]
        else { return try await next(request, context) }
        guard Self.takesGzip(request.headers[.acceptEncoding]), request.headers[.range] == nil
        else {
            var response = try await next(request, context)
            response.headers[.vary] = "Accept-Encoding"
            return response
        }
        if Self.matches(request.headers[.ifNoneMatch], file.eTag) {
            return Response(status: .notModified, headers: file.headers)
        }
        let body = request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: file.bytes)
        return Response(status: .ok, headers: file.headers, body: body)
    }

    /// Whether the header `Accept-Encoding` of a request names gzip and does not refuse it.
    static func takesGzip(_ field: String?) -> Bool {
        parts(of: field, separatedBy: ",").contains { coding in
            let words = parts(of: coding, separatedBy: ";").map { $0.lowercased() }
            guard words.first == "gzip" else { return false }
            let weight = words.first { $0.hasPrefix("q=") }
            return weight.flatMap { Double($0.dropFirst(2)) } != 0
        }
    }

    /// Whether the header `If-None-Match` of a request names the file that the browser would get.
    static func matches(_ field: String?, _ eTag: String) -> Bool {
        parts(of: field, separatedBy: ",").contains { $0 == "*" || $0 == eTag || $0 == "W/" + eTag }
    }

    private static func parts(of text: String?, separatedBy separator: Character) -> [String] {
        (text ?? "").split(separator: separator).map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private static func files(in folder: String) throws -> [String: File] {
        var files: [String: File] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let url = URL(fileURLWithPath: folder).appending(path: name)
            guard let type = types[url.pathExtension] else { continue }
            let bytes = try compress(url)
            let digest = SHA256.hash(data: bytes).prefix(16).map { String(format: "%02x", $0) }
            let eTag = "\"\(digest.joined())\""
            let headers: HTTPFields = [
                .contentType: type, .contentEncoding: "gzip", .vary: "Accept-Encoding",
                .eTag: eTag, .contentLength: String(bytes.count),
            ]
            files["/" + name] = File(
                headers: headers,
                eTag: eTag,
                bytes: ByteBuffer(bytes: bytes)
            )
        }
        files["/"] = files["/index.html"]
        return files
    }

    /// Compresses a file with the program `gzip`.
    private static func compress(_ url: URL) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Without name and time, the same file always has the same ETag.
        process.arguments = ["gzip", "-9", "-n", "-c"]
        process.standardInput = try FileHandle(forReadingFrom: url)
        process.standardOutput = output
        try process.run()
        // gzip has its own copy of this end. If ours stayed open, the output would never end.
        try? output.fileHandleForWriting.close()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0, !bytes.isEmpty else {
            throw StorefrontRefusal("gzip cannot compress \(url.path); is it on this machine?")
        }
        return bytes
    }
}
