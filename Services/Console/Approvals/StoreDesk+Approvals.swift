import NIOHTTP1
import OperatorCore
import StoreAPI

/// Purchases that wait for an approval: the list of `fulfillment`.
extension StoreDesk {
    /// A page of them, those that wait longest first.
    func deferred(after place: String?, token: String) async throws -> DeferredResponse {
        try await connection(to: .fulfillment, token: token).send(
            .GET,
            Routes.adminDeferred,
            StoreConnection.Content(query: place.map { [(name: "after", value: $0)] } ?? []),
            as: DeferredResponse.self
        )
    }
}
