import NIOHTTP1
import AsyncHTTPClient
import HTTPTypes
import Hummingbird

/// Tells the page which services of the store answer: `GET /api/health`.
struct HealthRoutes: Sendable {
    let store: StoreCaller

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/health") { _, _ in try jsonResponse(await conditions()) }
    }

    /// The condition of each service: `ready`, `starting` or `away`.
    private func conditions() async -> [String: String] {
        await withTaskGroup(of: (StoreService, String).self) { group in
            for service in StoreService.allCases {
                group.addTask { (service, await condition(of: service)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0.rawValue] = $1.1 }
        }
    }

    private func condition(of service: StoreService) async -> String {
        do {
            let answer = try await store.send(.get(service, "/health/ready"), token: nil)
            _ = try await StoreCaller.body(of: answer, from: service)
            return answer.status == .ok ? "ready" : "starting"
        } catch {
            return "away"
        }
    }
}
