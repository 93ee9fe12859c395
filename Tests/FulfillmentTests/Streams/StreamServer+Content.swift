import EventTypes
import NIOHTTP1
import StoreAPI
import TestSupport

@testable import Fulfillment

extension StreamServer {
    /// Sends a request with headers as an account, and returns the response with its headers.
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
            // On a busy machine, large contents take long through two servers.
            timeout: .seconds(60)
        )
    }

    /// Begins a download without reading any of it.
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

    /// Sends a request as the administrator.
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

    /// Returns the head of an upload request.
    func uploadHead(of productID: ProductID, length: String) throws -> String {
        "PUT \(Routes.adminContent(productID))?version=1 HTTP/1.1\r\nhost: x\r\n"
            + "authorization: Bearer \(try administratorToken())\r\n\(length)\r\n\r\n"
    }

    /// Returns the files in the content directory.
    func contentFiles() throws -> [String: [UInt8]] {
        try ContentFolder(path: contentDirectory).files()
    }
}
