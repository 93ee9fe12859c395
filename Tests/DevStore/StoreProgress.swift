import EventTypes
import Foundation
import StoreAPI
import TestSupport

/// What the commands have in common: starting a store while the terminal says so, and filling it.
extension Terminal {
    /// Tells each step of a store's start.
    var progress: @Sendable (String, Duration) -> Void {
        { what, time in done(what, time) }
    }

    /// Imports the sample catalog, and waits until `payments` knows it.
    func importSampleCatalog(into store: StoreHarness) async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        let result = try await store.administrator.importCatalog(SampleCatalog.document()).value
        for product in [SampleCatalog.coins, SampleCatalog.pro, SampleCatalog.hint] {
            try await store.waitUntilSellable(product)
        }
        done(
            "catalog of \(SampleCatalog.path): \(result.created) new, \(result.changed) changed, "
                + "\(result.unchanged) as before",
            clock.now - begin
        )
    }

    /// Says where the logs of a store that failed are.
    func complain(_ error: any Error) {
        line()
        line("  \(error)", .red)
    }
}
