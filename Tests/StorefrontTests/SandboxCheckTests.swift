import ArgumentParser
import AsyncHTTPClient
import Crypto
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import storefront

@Suite struct SandboxCheckTests {
    /// Asks the service at a URL.
    private func ask(_ url: String) async throws {
        let signer = try await TokenSigner(
            pem: P256.Signing.PrivateKey().pemRepresentation,
            keyID: "development",
            issuer: "com.example.app",
            audience: "counterfoil"
        )
        let addresses = try StoreAddresses.parse(["--payments", url])
        let client = StoreCaller.makeClient()
        let store = StoreCaller(client: client, addresses: addresses, signer: signer)
        do {
            try await SandboxCheck(store: store, logger: Logger(label: "test")).run()
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    /// Asks a service that answers so at `/health/environment`.
    private func ask(of answer: String) async throws {
        let router = Router(context: BasicRequestContext.self)
        router.get("/health/environment") { _, _ in answer }
        try await Application(router: router).test(.live) { http in
            let port = try #require(http.port)
            try await ask("http://127.0.0.1:\(port)")
        }
    }

    @Test func aSandboxIsSoldFrom() async throws {
        try await ask(of: #"{"environment":"Sandbox","service":"payments"}"#)
    }

    @Test(arguments: ["Production", "Xcode", ""])
    func aStoreThatIsNoSandboxIsRefused(_ environment: String) async {
        await #expect(throws: StorefrontRefusal.self) {
            try await ask(of: #"{"environment":"\#(environment)","service":"payments"}"#)
        }
    }

    @Test(arguments: ["{}", "not found"])
    func whatIsNoAnswerRefusesNothing(_ answer: String) async throws {
        try await ask(of: answer)
    }

    @Test func aStoreThatIsAwayRefusesNothing() async throws {
        // Nothing listens on this port.
        try await ask("http://127.0.0.1:1")
    }
}
