import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1

/// Refuses, at the start, a store that is no sandbox.
///
/// Anybody can be any buyer in this shop, so it never sells for a store that charges.
struct SandboxCheck: Sendable {
    let store: StoreCaller
    let logger: Logger

    private struct Answer: Decodable {
        var environment: String
    }

    /// Asks `payments`.
    ///
    /// A store that does not say it is no reason to wait: this server may start first, its payment
    /// methods exist in a sandbox alone, and it trusts no other receipts.
    ///
    /// - Throws: ``StorefrontRefusal`` if the store says that it is no sandbox.
    func run() async throws {
        guard let environment = try await environment() else {
            logger.warning("payments does not say whether the store is a sandbox")
            return
        }
        guard environment == "Sandbox" else {
            throw StorefrontRefusal(
                "The store is \(environment), and this shop sells from a sandbox only."
            )
        }
    }

    /// The environment of the store; `nil` if `payments` does not say it.
    private func environment() async throws -> String? {
        do {
            let call = StoreCall.get(.payments, "/health/environment")
            let answer = try await store.send(call, token: nil)
            let body = try await StoreCaller.body(of: answer, from: .payments)
            // A proxy in front of the store has no such path, and says so in its own form.
            guard answer.status == .ok else { return nil }
            return try JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView))
                .environment
        } catch is StorefrontProblem {
            return nil
        } catch is DecodingError {
            return nil
        }
    }
}
