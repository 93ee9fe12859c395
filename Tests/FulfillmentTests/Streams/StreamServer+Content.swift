import EventTypes
import NIOHTTP1
import StoreAPI
import TestSupport

@testable import Fulfillment

extension StreamServer {
    /// Asks as an account, with headers, for an answer with headers.
    func ask(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: [(String, String)] = [],
        by account: String = "alice"
    ) async throws -> StoreResponse {
        try await StoreHTTP.send(
            method,
            "http://127.0.0.1:\(port)\(path)",
            headers: headers + [("authorization", "Bearer \(try token(account))")],
            // Large contents through two servers take their time on a busy machine.
            timeout: .seconds(60)
        )
    }

    /// Asks for a download, and reads nothing of it.
    func beginDownload(
        _ path: String,
        _ account: String = "alice"
    ) throws -> RawConnection {
        let connection = try RawConnection(port: port)
        connection.send(
            "GET \(path) HTTP/1.1\r\nhost: x\r\nauthorization: Bearer "
                + "\(try token(account))\r\n\r\n"
        )
        return connection
    }

    /// Asks as the administrator.
    func administer(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> StoreResponse {
        try await StoreHTTP.send(
            method,
            "http://127.0.0.1:\(port)\(path)",
            headers: headers + [("authorization", "Bearer \(try administratorToken())")],
            body: body,
            timeout: .seconds(60)
        )
    }

    /// Uploads version 1.0 of a product's content.
    func host(_ bytes: [UInt8], for productID: ProductID) async throws {
        let answer = try await administer(
            .PUT,
            Routes.adminContent(productID) + "?version=1.0",
            body: bytes
        )
        guard answer.status < 300 else { throw HarnessError(answer.text) }
    }

    /// The head of an upload.
    func uploadHead(of productID: ProductID, length: String) throws -> String {
        "PUT \(Routes.adminContent(productID))?version=1 HTTP/1.1\r\nhost: x\r\n"
            + "authorization: Bearer \(try administratorToken())\r\n\(length)\r\n\r\n"
    }

    /// The files of the content directory.
    func contentFiles() throws -> [String: [UInt8]] {
        try ContentFolder(path: contentDirectory).files()
    }
}
