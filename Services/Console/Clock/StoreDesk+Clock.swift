import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The store's clock, which `payments` owns.
extension StoreDesk {
    /// The clock.
    ///
    /// - Throws: `OperatorError`, with the status 404 if the store is in production.
    func clock(token: String) async throws -> ClockResponse {
        try await connection(to: .payments, token: token)
            .send(.GET, Routes.adminClock, as: ClockResponse.self)
    }

    /// Changes the clock.
    func change(_ change: ClockChange, token: String) async throws {
        let payments = connection(to: .payments, token: token)
        switch change {
        case .advance(let request, let key):
            let content = try StoreConnection.Content.json(
                request,
                headers: [("Idempotency-Key", key.rawValue)]
            )
            _ = try await payments.send(.POST, Routes.adminClockAdvance, content)
        case .run(let rate):
            let content = try StoreConnection.Content.json(ClockRunRequest(rate: rate))
            _ = try await payments.send(.POST, Routes.adminClockRun, content)
        case .freeze: _ = try await payments.send(.POST, Routes.adminClockFreeze)
        case .resume: _ = try await payments.send(.POST, Routes.adminClockResume)
        }
    }
}
