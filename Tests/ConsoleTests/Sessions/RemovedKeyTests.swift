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
import Synchronization
import Testing

@testable import Console

/// Keys that are removed while their sessions are open.
@Suite(.timeLimit(.minutes(1)))
struct RemovedKeyTests {
    /// A clock that a test moves.
    private final class MovedClock: Sendable {
        private let time = Mutex(MachineTime.now())

        var now: MachineTime { time.withLock { $0 } }

        func advance(by span: Duration) {
            time.withLock { $0 = $0.advanced(by: span) }
        }
    }

    private struct Claims: JWTPayload {
        var iss = "administrator"
        var sub = "maria"
        var aud = "counterfoil-admin"
        let exp: Int64

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// Writes the public key of maria, who may read.
    private static func register(_ key: ECDSA.PrivateKey<P256>, in folder: String) throws {
        try key.publicKey.pemRepresentation.write(
            toFile: folder + "/maria.pem",
            atomically: true,
            encoding: .utf8
        )
        try "{\"scopes\":[\"read\"]}".write(
            toFile: folder + "/maria.json",
            atomically: true,
            encoding: .utf8
        )
    }

    /// The pages of a console whose store is away, with the keys of a folder.
    private static func pages(in folder: String, _ clock: MovedClock) throws -> ConsoleRouter {
        let door = ConsoleDoor(
            authenticator: try Authenticator(adminKeysDirectory: folder, now: { clock.now }),
            visits: VisitRules(isReadOnly: true),
            now: { clock.now },
            logger: Logger(label: "test")
        )
        // Nobody listens on port 1.
        let services = OperatedService.allCases.map { ($0, "http://127.0.0.1:1") }
        let databases = OperatedService.allCases.map { ($0, "postgresql://x@127.0.0.1:1/x") }
        let addresses = DatabaseAddresses(urls: Dictionary(uniqueKeysWithValues: databases), [:])
        return consolePages(
            origin: try #require(ConsoleOrigin("http://localhost")),
            door: door,
            urls: Dictionary(uniqueKeysWithValues: services),
            databases: addresses,
            deciding: addresses,
            logger: Logger(label: "test")
        )
    }

    /// Signs in with a token.
    ///
    /// - Returns: The cookie of the session.
    private static func signIn(
        _ token: String,
        over client: any TestClientProtocol
    ) async throws -> String {
        let answer = try await client.executeRequest(
            uri: "/tickets",
            method: .post,
            headers: [.authorization: "Bearer \(token)"],
            body: nil
        )
        let url = try JSONDecoder().decode(SignInTicket.self, from: Data(buffer: answer.body)).url
        let ticket = try #require(url.split(separator: "#ticket=").last)
        let begun = try await client.executeRequest(
            uri: "/session",
            method: .post,
            headers: [
                .contentType: "application/x-www-form-urlencoded", .origin: "http://localhost",
            ],
            body: ByteBuffer(string: "ticket=\(ticket)")
        )
        let line = try #require(begun.headers[.setCookie])
        return String(try #require(line.split(separator: ";").first))
    }

    @Test func aKeyThatIsRemovedEndsItsSessionsInFiveSeconds() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "console-\(UUID().uuidString)"
        ).path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = ECDSA.PrivateKey<P256>()
        try Self.register(key, in: folder)
        let clock = MovedClock()
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "maria")
        let end = clock.now.millisecondsSinceEpoch / 1000 + 3600
        let token = try await keys.sign(Claims(exp: end), kid: "maria")
        let router = try Self.pages(in: folder, clock).router
        try await Application(router: router).test(.router) { client in
            let cookie = try await Self.signIn(token, over: client)
            func status() async throws -> HTTPResponse.Status {
                try await client.executeRequest(
                    uri: "/now",
                    method: .get,
                    headers: [.cookie: cookie],
                    body: nil
                ).status
            }
            let before = try await status()
            #expect(before == .ok)
            try FileManager.default.removeItem(atPath: folder + "/maria.pem")
            try FileManager.default.removeItem(atPath: folder + "/maria.json")
            clock.advance(by: .seconds(5))
            let after = try await status()
            #expect(after == .unauthorized)
            // The session is over, also if the key comes back.
            try Self.register(key, in: folder)
            clock.advance(by: .seconds(5))
            let again = try await status()
            #expect(again == .unauthorized)
        }
    }
}
