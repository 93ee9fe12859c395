import Crypto
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import Synchronization
import Testing

@testable import ServiceKit

/// Tokens of merchants' servers, signed with jwt-kit.
@Suite(.timeLimit(.minutes(10)))
struct ServerAPIAuthenticatorTests {
    private let directory: String
    private let key = ECDSA.PrivateKey<P256>()

    init() throws {
        directory = NSTemporaryDirectory() + "server-keys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        try write("KEY1", key, ["com.example.app", "com.example.game"])
    }

    private func write(
        _ name: String,
        _ key: ECDSA.PrivateKey<P256>,
        _ bundles: [String]
    ) throws {
        let file: [String: Any] = [
            "issuerID": "issuer-1", "bundleIDs": bundles,
            "publicKey": key.publicKey.pemRepresentation,
        ]
        try JSONSerialization.data(withJSONObject: file)
            .write(to: URL(fileURLWithPath: "\(directory)/\(name).json"))
    }

    private func authenticator(
        requestsPerSecond: Int = 50,
        now: @escaping @Sendable () -> MachineTime = { testTime }
    ) throws -> ServerAPIAuthenticator {
        try ServerAPIAuthenticator(
            ServerAPISettings(
                keysDirectory: directory,
                requestsPerSecond: requestsPerSecond
            ),
            now: now,
            logger: silent
        )
    }

    /// The claims that Apple's client makes, for a test to change.
    private var claims: Claims {
        Claims(
            iss: "issuer-1",
            aud: .one("appstoreconnect-v1"),
            exp: testTime.seconds + 300,
            bid: "com.example.app"
        )
    }

    private func token(
        _ claims: Claims,
        kid: String? = "KEY1",
        by other: ECDSA.PrivateKey<P256>? = nil
    ) async throws -> String {
        var header: JWTHeader = [:]
        header.kid = kid
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: other ?? key)
        return try await keys.sign(claims, header: header)
    }

    @Test func aTokenAsApplesClientMakesItNamesItsKeyAndApp() async throws {
        let server = try authenticator().server(of: try await token(claims))
        #expect(server.keyID == "KEY1")
        #expect(server.bundleID.rawValue == "com.example.app")
    }

    @Test(
        arguments: [
            ("iat", 0, 3600), ("iat", -1800, 1800), ("iat", 60, 300), ("none", 0, 3600),
            ("none", 0, 3660), ("none", 0, 1),
        ]
    )
    func aLifetimeOfAnHourIsTaken(_ kind: String, _ issued: Int64, _ expiry: Int64) async throws {
        var claims = claims
        if kind == "iat" { claims.iat = testTime.seconds + issued }
        claims.exp = testTime.seconds + expiry
        let token = try await token(claims)
        #expect(throws: Never.self) { try authenticator().server(of: token) }
    }

    @Test func aBelievedTokenHearsThatItNamesNoApp() async throws {
        var claims = claims
        for bundle in ["", "no app", "com/example"] {
            claims.bid = bundle
            let token = try await token(claims)
            let refusal = #expect(throws: ServerAPIAuthenticator.Refusal.self) {
                try authenticator().server(of: token)
            }
            #expect(refusal?.namesNoApp == true)
            let forged = try await self.token(claims, by: ECDSA.PrivateKey<P256>())
            let other = #expect(throws: ServerAPIAuthenticator.Refusal.self) {
                try authenticator().server(of: forged)
            }
            #expect(other?.namesNoApp == false)
        }
    }

    @Test(
        arguments: [
            "expired", "longLived", "longLivedWithoutIssue", "noExpiry", "fromTheFuture",
            "otherAudience", "otherIssuer", "noIssuer", "otherApp", "noApp",
        ]
    )
    func whatIsWrongIsRefused(_ fault: String) async throws {
        var claims = claims
        switch fault {
        case "expired": claims.exp = testTime.seconds - 60
        case "longLived":
            claims.iat = testTime.seconds - 1800
            claims.exp = testTime.seconds + 1801
        case "longLivedWithoutIssue": claims.exp = testTime.seconds + 3661
        case "noExpiry": claims.exp = nil
        case "fromTheFuture": claims.iat = testTime.seconds + 61
        case "otherAudience": claims.aud = .one("counterfoil")
        case "otherIssuer": claims.iss = "issuer-2"
        case "noIssuer": claims.iss = nil
        case "otherApp": claims.bid = "com.other.app"
        default: claims.bid = nil
        }
        let token = try await token(claims)
        #expect(throws: ServerAPIAuthenticator.Refusal.self) {
            try authenticator().server(of: token)
        }
    }

    @Test func anotherSignatureOrNoneIsRefused() async throws {
        let authenticator = try authenticator()
        let stranger = try await token(claims, by: ECDSA.PrivateKey<P256>())
        let unknown = try await token(claims, kid: "KEY2")
        let nameless = try await token(claims, kid: nil)
        let parts = try await token(claims).split(separator: ".")
        // {"alg":"none","kid":"KEY1"} and {"alg":"HS256","kid":"KEY1"}
        let none = "eyJhbGciOiJub25lIiwia2lkIjoiS0VZMSJ9.\(parts[1])."
        let symmetric = "eyJhbGciOiJIUzI1NiIsImtpZCI6IktFWTEifQ.\(parts[1]).\(parts[2])"
        for token in [stranger, unknown, nameless, none, symmetric, "", "a.b.c"] {
            #expect(throws: ServerAPIAuthenticator.Refusal.self) {
                try authenticator.server(of: token)
            }
        }
    }

    @Test func keysComeAndGoWhileTheServiceRuns() async throws {
        let clock = Mutex(testTime)
        let authenticator = try authenticator(now: { clock.withLock { $0 } })
        let other = ECDSA.PrivateKey<P256>()
        try write("KEY2", other, ["com.example.app"])
        let token = try await token(claims, kid: "KEY2", by: other)
        #expect(throws: ServerAPIAuthenticator.Refusal.self) {
            try authenticator.server(of: token)
        }
        clock.withLock { $0 = $0.advanced(by: .seconds(5)) }
        #expect(try authenticator.server(of: token).keyID == "KEY2")
        try FileManager.default.removeItem(atPath: "\(directory)/KEY2.json")
        clock.withLock { $0 = $0.advanced(by: .seconds(5)) }
        #expect(throws: ServerAPIAuthenticator.Refusal.self, "It was read that KEY2 has gone.") {
            try authenticator.server(of: token)
        }
    }

    @Test func aDirectoryThatCannotBeListedForAMomentTakesNoKeyAway() async throws {
        let clock = Mutex(testTime)
        let authenticator = try authenticator(now: { clock.withLock { $0 } })
        let other = ECDSA.PrivateKey<P256>()
        try write("KEY2", other, ["com.example.app"])
        let token = try await token(claims, kid: "KEY2", by: other)
        clock.withLock { $0 = $0.advanced(by: .seconds(5)) }
        #expect(try authenticator.server(of: token).keyID == "KEY2")
        try FileManager.default.moveItem(atPath: directory, toPath: directory + "-away")
        clock.withLock { $0 = $0.advanced(by: .seconds(5)) }
        #expect(try authenticator.server(of: token).keyID == "KEY2")
        try FileManager.default.moveItem(atPath: directory + "-away", toPath: directory)
    }

    @Test func aFileThatIsNoKeyIsNamedAtTheStart() throws {
        try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(directory)/BAD.json"))
        let error = #expect(throws: ServiceKitError.self) { try authenticator() }
        #expect("\(error, default: "")".contains("BAD.json"))
    }

    @Test func aFileThatIsNoKeyTakesNoOtherKeyFromOffers() throws {
        try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(directory)/BAD.json"))
        let keys = try OfferKeys(directory: directory, now: { testTime }, logger: silent)
        let app = BundleID(unchecked: "com.example.app")
        #expect(keys.key("KEY1", of: app)?.issuerID == "issuer-1")
        #expect(keys.key("BAD", of: app)?.issuerID == nil)
        #expect(throws: ServiceKitError.self, "A directory that is not there is a mistake.") {
            try OfferKeys(directory: "\(directory)-none", now: { testTime }, logger: silent)
        }
    }

    @Test func aKeyThatAsksTooOftenLearnsWhenToAskAgain() throws {
        var allowance = RequestAllowance(ratePerSecond: 2, at: testTime)
        #expect(allowance.take(at: testTime) == nil)
        #expect(allowance.take(at: testTime) == nil)
        #expect(allowance.take(at: testTime) == .milliseconds(500))
        let later = testTime.advanced(by: .milliseconds(499))
        #expect(allowance.take(at: later) == .milliseconds(1))
        #expect(allowance.take(at: testTime.advanced(by: .milliseconds(500))) == nil)
        #expect(allowance.take(at: testTime) == .milliseconds(500), "The clock was set back.")
        let muchLater = testTime.advanced(by: .seconds(3600))
        for _ in 1...2 { #expect(allowance.take(at: muchLater) == nil) }
        #expect(allowance.take(at: muchLater) != nil, "A pause saves up one second's worth.")
    }

    @Test func answersAreApplesAndNothingElse() async throws {
        let router = Router(context: StoreRequestContext.self)
        let authenticator = try authenticator(requestsPerSecond: 5)
        router.group("/inApps").add(
            middleware: ServerAPIMiddleware(authenticator: authenticator)
        )
        .get("refused") { _, _ -> Response in throw ServerAPIError.transactionIDNotFound }
        .get("problem") { _, _ -> Response in throw HTTPProblem.notFound("no") }
        .get("away") { _, _ -> Response in throw CancellationError() }
        .get("broken") { _, _ -> Response in throw Broken() }
        let bearer = "Bearer " + (try await token(claims))
        try await Application(responder: router.buildResponder()).test(.router) { client in
            for (path, status, body) in [
                (
                    "refused", 404,
                    #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#
                ),
                ("problem", 400, #"{"errorCode":4000000,"errorMessage":"Bad request."}"#),
                (
                    "away", 500,
                    #"{"errorCode":5000001,"errorMessage":"An unknown error occurred. Please try again."}"#
                ),
                (
                    "broken", 500,
                    #"{"errorCode":5000000,"errorMessage":"An unknown error occurred."}"#
                ),
            ] {
                try await client.execute(
                    uri: "/inApps/\(path)",
                    method: .get,
                    headers: [.authorization: bearer]
                ) { response in
                    #expect(response.status.code == status)
                    #expect(response.headers[.contentType] == "application/json")
                    #expect(String(buffer: response.body) == body)
                }
            }
            for authorization in ["", "Bearer", "Basic x", "Bearer nonsense"] {
                try await client.execute(
                    uri: "/inApps/refused",
                    method: .get,
                    headers: [.authorization: authorization]
                ) { response in
                    #expect(response.status == .unauthorized)
                    #expect(response.body.readableBytes == 0)
                    #expect(response.headers[.contentType] == nil)
                }
            }
            _ = try await client.execute(
                uri: "/inApps/refused",
                method: .get,
                headers: [.authorization: bearer]
            )
            try await client.execute(
                uri: "/inApps/refused",
                method: .get,
                headers: [.authorization: bearer]
            ) { response in
                #expect(response.status == .tooManyRequests)
                #expect(response.headers[.retryAfter] == "1")
                #expect(String(buffer: response.body).contains("4290000"))
            }
        }
    }

    private struct Broken: Error {}
}
