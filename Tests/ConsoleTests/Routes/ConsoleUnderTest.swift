import ClockAndIDs
import Crypto
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import Logging
import NIOCore
import NIOFoundationEssentialsCompat
import OperatorCore
import ServiceKit
import StoreAPI
import Testing

@testable import Console

/// A console whose store is away but for some services, with an administrator `maria`.
struct ConsoleUnderTest {
    let client: any TestClientProtocol
    let folder: String
    /// Every route of the pages, as its method and path: `GET /purchases/{id}`.
    let routes: Set<String>
    private let key: ECDSA.PrivateKey<P256>

    /// Runs a body with the pages of a console or, if it is whole, with the routes around them.
    static func run(
        scopes: [AdministratorScope] = AdministratorScope.allCases,
        isReadOnly: Bool = false,
        origin text: String = "http://localhost",
        isWhole: Bool = false,
        board: JobBoard? = nil,
        urls: [OperatedService: String] = [:],
        logger: Logger = Logger(label: "test"),
        now: @escaping @Sendable () -> MachineTime = { .now() },
        _ body: @Sendable (ConsoleUnderTest) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "console-\(UUID().uuidString)"
        ).path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = ECDSA.PrivateKey<P256>()
        try key.publicKey.pemRepresentation.write(
            toFile: folder + "/maria.pem",
            atomically: true,
            encoding: .utf8
        )
        let names = scopes.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        try "{\"scopes\":[\(names)]}".write(
            toFile: folder + "/maria.json",
            atomically: true,
            encoding: .utf8
        )
        // Nobody listens on port 1.
        let services = OperatedService.allCases.map { ($0, urls[$0] ?? "http://127.0.0.1:1") }
        let databases = OperatedService.allCases.map { ($0, "postgresql://x@127.0.0.1:1/x") }
        let authenticator = try Authenticator(adminKeysDirectory: folder, now: now)
        let door = ConsoleDoor(
            authenticator: authenticator,
            visits: VisitRules(isReadOnly: isReadOnly),
            now: now,
            logger: logger
        )
        let addresses = DatabaseAddresses(urls: Dictionary(uniqueKeysWithValues: databases), [:])
        let origin = try #require(ConsoleOrigin(text))
        let pages = consolePages(
            origin: origin,
            door: door,
            urls: Dictionary(uniqueKeysWithValues: services),
            databases: addresses,
            deciding: addresses,
            board: board,
            logger: logger
        )
        let routes = Set(
            pages.router.routes.filter { $0.method != .head }.map { "\($0.method) \($0.path)" }
        )
        guard isWhole else {
            try await Application(router: pages.router).test(.router) { client in
                try await body(
                    ConsoleUnderTest(client: client, folder: folder, routes: routes, key: key)
                )
            }
            return
        }
        let outer = storeRouter(
            authenticator: authenticator,
            readiness: [],
            answerHeaders: PageHeaders.all(isSecure: origin.isSecure),
            logger: logger
        )
        pages.mount(on: outer)
        try await Application(responder: outer.buildResponder()).test(.router) { client in
            try await body(
                ConsoleUnderTest(client: client, folder: folder, routes: routes, key: key)
            )
        }
    }

    private struct Claims: JWTPayload {
        var iss = "administrator"
        var sub = "maria"
        let aud: String
        let exp: Int64

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// A token of maria, which ends after a number of seconds.
    func token(
        audience: String = "counterfoil-admin",
        endingIn seconds: Int64 = 3600
    ) async throws -> String {
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "maria")
        let claims = Claims(
            aud: audience,
            exp: MachineTime.now().millisecondsSinceEpoch / 1000 + seconds
        )
        return try await keys.sign(claims, kid: "maria")
    }

    /// Sends a request as a browser does.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        cookie: String? = nil,
        form: String? = nil,
        _ fields: [String: String] = ["Sec-Fetch-Site": "same-origin", "Accept": "text/html"]
    ) async throws -> TestResponse {
        var headers: HTTPFields = [:]
        for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
        if let cookie { headers[.cookie] = "\(ConsoleDoor.cookie)=\(cookie)" }
        if form != nil { headers[.contentType] = "application/x-www-form-urlencoded" }
        return try await client.executeRequest(
            uri: path,
            method: method,
            headers: headers,
            body: form.map { ByteBuffer(string: $0) }
        )
    }

    /// Asks for a ticket, as the command line does.
    func ticket(_ token: String) async throws -> TestResponse {
        try await send(.post, "/tickets", ["Authorization": "Bearer \(token)"])
    }

    /// Signs in.
    ///
    /// - Returns: The secret of the cookie, and the text that forms carry.
    func signIn() async throws -> (cookie: String, csrf: String) {
        let answer = try await ticket(try await token())
        let url = try JSONDecoder().decode(SignInTicket.self, from: Data(buffer: answer.body)).url
        let ticket = try #require(url.split(separator: "#ticket=").last)
        let begun = try await send(.post, "/session", form: "ticket=\(ticket)")
        let line = try #require(begun.headers[.setCookie])
        let cookie = try #require(line.firstMatch(of: /__Host-console=([0-9a-f]+)/)?.1)
        let page = String(buffer: try await send(.get, "/", cookie: String(cookie)).body)
        let csrf = try #require(page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
        return (String(cookie), String(csrf))
    }
}
