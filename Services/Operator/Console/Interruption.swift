import Dispatch
import Foundation
import Synchronization

/// Notes Ctrl-C and SIGTERM, so that a replay can end between two batches and say how to resume.
final class Interruption: Sendable {
    private let raised = Atomic(false)
    private let sources: Mutex<[any DispatchSourceSignal]>

    init() {
        sources = Mutex(
            [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                return DispatchSource.makeSignalSource(signal: number, queue: .global())
            }
        )
        sources.withLock { sources in
            for source in sources {
                source.setEventHandler { [weak self] in
                    self?.raised.store(true, ordering: .relaxed)
                }
                source.resume()
            }
        }
    }

    /// Whether a signal has arrived.
    var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Lets the signals end the process again.
    func end() {
        sources.withLock { sources in
            for source in sources { source.cancel() }
        }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
