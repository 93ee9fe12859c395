import Foundation
import HTTPTypes
import Hummingbird
import ServiceKit
import StoreAPI

/// The route `verifyReceipt`.
///
/// It is open to everybody, as Apple's is, and therefore limited by ``VerifyReceiptAdmission``.
///
/// Every answer has the HTTP status 200, except to requests that are too large or too slow.
struct VerifyReceiptRoutes: Sendable {
    let handler: VerifyReceiptHandler

    /// Adds the route.
    func add(to router: StoreRouter) {
        router.open.post("\(Routes.verifyReceipt)") { request, _ in
            try await verify(request)
        }
        for method in [HTTPRequest.Method.get, .put, .patch, .delete, .options] {
            router.open.on("\(Routes.verifyReceipt)", method: method) { _, _ in
                try response(VerifyReceiptAnswer(status: .unreadable))
            }
        }
    }

    private func verify(_ request: Request) async throws -> Response {
        var taken = 0
        defer { handler.admission.give(bytes: taken) }
        do {
            let body = try await collectBody(
                of: request,
                upTo: VerifyReceiptRequest.lengthMax
            ) { count in
                try handler.admission.take(bytes: count)
                taken += count
            }
            let answer = try await handler.answer(Data(body.readableBytesView), encoded)
            return try response(answer)
        } catch let status as VerifyReceiptStatus {
            return try response(VerifyReceiptAnswer(status: status))
        }
    }

    private func response(_ answer: VerifyReceiptAnswer) throws -> Response {
        try response(try encoded(answer))
    }

    private func encoded(_ answer: VerifyReceiptAnswer) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(answer))
    }

    private func response(_ answer: ByteBuffer) throws -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: try body(answer)
        )
    }

    /// Returns the body of the response.
    ///
    /// A large one holds its space until it has been read or abandoned.
    private func body(_ answer: ByteBuffer) throws -> ResponseBody {
        guard answer.readableBytes > VerifyReceiptHandler.smallLength * 4 else {
            return ResponseBody(byteBuffer: answer)
        }
        let room = try handler.admission.room(forAnswer: answer.readableBytes)
        return ResponseBody(contentLength: answer.readableBytes) { [answer] writer in
            var rest = answer
            while let piece = rest.readSlice(length: min(Self.pieceLength, rest.readableBytes)),
                piece.readableBytes > 0
            {
                try await writer.write(piece)
            }
            try await writer.finish(nil)
            withExtendedLifetime(room) {}
        }
    }

    /// The number of bytes after which a writer waits for its reader.
    private static let pieceLength = 64 * 1024
}
