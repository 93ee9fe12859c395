import Dispatch
import Foundation
import Synchronization

/// Ctrl-C and SIGTERM, as a question: the replay ends between two batches and says how it goes on.
final class Interruption: Sendable {
    private let raised = Atomic(false)
    /// `nonisolated(unsafe)`: the array never changes, and Dispatch's sources, which are not declared
    /// sendable, may be used from any thread.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    init() {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for source in sources {
            source.setEventHandler { [weak self] in self?.raised.store(true, ordering: .relaxed) }
            source.resume()
        }
    }

    /// Whether one came.
    var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Lets the signals end the process again.
    func end() {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
