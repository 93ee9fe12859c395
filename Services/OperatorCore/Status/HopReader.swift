import Foundation
import NIOHTTP1

/// Reads how long events took to their effects, from the metrics of the services.
package struct HopReader: Sendable {
    private let urls: [OperatedService: String]

    /// Makes a reader.
    ///
    /// - Parameter urls: The addresses of the services.
    package init(urls: [OperatedService: String]) {
        self.urls = urls
    }

    /// Reads the counts of every consumer, all concurrently.
    ///
    /// - Returns: The counts of each; a service that is away is left out.
    package func counts() async -> [OperatedService: HopCounts] {
        await withTaskGroup(of: (OperatedService, HopCounts?).self) { group in
            for service in OperatedService.consumers {
                group.addTask { (service, await counts(of: service)) }
            }
            return await group.reduce(into: [:]) { found, next in found[next.0] = next.1 }
        }
    }

    private func counts(of service: OperatedService) async -> HopCounts? {
        let connection = StoreConnection(
            service: service.rawValue,
            baseURL: urls[service] ?? service.defaultURL,
            token: nil
        )
        // The report of the services says which one is away and why.
        let metrics = try? await connection.send(.GET, "/metrics", timeout: .seconds(5))
        return metrics.map(HopCounts.init(metrics:))
    }
}
