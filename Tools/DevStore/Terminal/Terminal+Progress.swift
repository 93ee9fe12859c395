import ArgumentParser
import EventTypes
import Foundation
import StoreAPI
import StoreHarness

/// The steps that the commands share: starting a store while showing progress, filling it, and
/// reporting the end.
extension Terminal {
    /// Runs a command's work, which an interruption cancels.
    ///
    /// - Throws: `ExitCode`: 130 if it was interrupted, 1 if the harness threw an error, which is
    ///   printed.
    func perform(_ work: @escaping @Sendable () async throws -> Void) async throws {
        do {
            let interrupted = try await Interruption.cancelling(work)
            if interrupted { throw ExitCode(130) }
        } catch let error as HarnessError {
            complain(error)
            throw ExitCode(1)
        }
    }

    /// Shows each step of a store's start.
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

    /// Prints where the logs of a failed store are.
    func complain(_ error: any Error) {
        line()
        line("  \(error)", .red)
    }
}
