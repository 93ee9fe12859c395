import Foundation
import NIOCore
import NIOHTTP1

extension StoreConnection {
    /// The readiness that a service reports.
    package struct Health: Sendable {
        /// Whether the service is ready.
        package let isReady: Bool
        /// The dependencies that the service waits for.
        package let detail: String?
        /// The version of the service.
        package let version: String?
    }

    /// Asks a service for its readiness; no token is needed.
    package func health() async throws(OperatorError) -> Health {
        struct Live: Decodable {
            var version: String?
        }
        let answer = try await send(.GET, "/health/live", timeout: .seconds(5))
        // Old services do not report a version.
        let version = (try? JSONDecoder().decode(Live.self, from: answer))?.version
        do {
            _ = try await send(.GET, "/health/ready", timeout: .seconds(5))
            return Health(isReady: true, detail: nil, version: version)
        } catch {
            // The service's own explanation, without the title: "Waiting for: kafka."
            let words = error.description.split(separator: "\n").last.map(String.init)
            return Health(isReady: false, detail: words, version: version)
        }
    }
}
