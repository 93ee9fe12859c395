import ArgumentParser
import EventTypes
import Foundation
import StoreAPI
import StoreHarness

/// What the commands have in common: starting a store while the terminal says so, filling it, and
/// how they end.
extension Terminal {
    /// Does a command's work, which an interruption cancels.
    ///
    /// - Throws: `ExitCode`: 130 when it was interrupted, 1 when the harness says what is wrong,
    ///   which the person is told.
    func perform(_ work: @escaping @Sendable () async throws -> Void) async throws {
        do {
            let interrupted = try await Interruption.cancelling(work)
            if interrupted { throw ExitCode(130) }
        } catch let error as HarnessError {
            complain(error)
            throw ExitCode(1)
        }
    }

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
