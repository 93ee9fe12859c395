import Dispatch
import EventTypes
import Foundation
import StoreAPI
import Synchronization
import Testing

@testable import PaymentQueue

/// The ends of restores, whoever observes: each ends once, in one of two ways (spec rules 64 and
/// 65).
@Suite(.timeLimit(.minutes(10))) struct RestoreTests {
    private let callbacks = DispatchQueue(label: "test")

    private func queue() -> SKPaymentQueue {
        SKPaymentQueue(configuration: nil, callbacks: callbacks)
    }

    /// Spec rule 66; the store is not asked, which nobody reaches here.
    @Test(arguments: ["", "1.2.3.4", "1.", ".1", "1..2", "1.0b2", "v1", "-1", "١"])
    func aBuildVersionThatIsNoneRestoresNothingAndEnds(version: String) async {
        #expect(!BuildVersion.isWellFormed(version))
        var configuration = StoreConfiguration.unreachable
        configuration.applicationVersion = version
        let queue = SKPaymentQueue(configuration: configuration, callbacks: callbacks)
        let observer = Observer()
        queue.add(observer)
        await queue.restore(RestoreRequest())
        #expect(await reported(observer) == [.restoreFinished])
        queue.remove(observer)
    }

    @Test(arguments: ["1", "0", "2.1", "2026.11.22"])
    func aBuildVersionIsOneToThreeIntegers(version: String) {
        #expect(BuildVersion.isWellFormed(version))
    }

    /// The calls to an observer, once all of them were made.
    private func reported(_ observer: Observer) async -> [Observer.Call] {
        await settled(callbacks)
        return observer.calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
    }

    @Test func aRestoreThatAllObserversLeaveHasFailedForTheNextOneAndOnce() async {
        let queue = queue()
        let first = Observer()
        queue.add(first)
        let unanswered = begin(queue)
        let answered = begin(queue)
        queue.change { $0.await([TransactionID(number: 8)], of: answered) }
        queue.remove(first)
        let updates = TransactionUpdates(queue: queue).makeAsyncIterator()
        let next = Observer()
        queue.add(next)
        #expect(await reported(next) == [.restoreFailed(.unknown), .restoreFailed(.unknown)])
        queue.change { $0.await([], of: unanswered) }
        queue.restoreFailed(unanswered, SKError(.unknown))
        queue.restoreFailed(answered, SKError(.unknown))
        #expect(await reported(next).isEmpty, "It has ended, and does not end again.")
        let another = Observer()
        queue.add(another)
        queue.change { $0.receive([.of(8, "pro", .restored)]) }
        #expect(await reported(another) == [.updated("pro", .restored)])
        #expect(await reported(next) == [.updated("pro", .restored)])
        #expect(await reported(first).isEmpty)
        _ = updates
    }

    @Test func theEndOfARestoreIsReportedToTheNextObserver() async {
        let queue = queue()
        let (first, second) = (begin(queue), begin(queue))
        queue.change { $0.await([], of: first) }
        queue.restoreFailed(second, SKError(.cloudServiceNetworkConnectionFailed))
        let observer = Observer()
        queue.add(observer)
        #expect(
            await reported(observer) == [
                .restoreFinished, .restoreFailed(.cloudServiceNetworkConnectionFailed),
            ]
        )
        queue.remove(observer)
        queue.add(observer)
        #expect(await reported(observer).isEmpty)
    }

    /// The observer that is there when a restore ends may be gone when the restore is reported to it.
    @Test func anEndAfterItsObserverHasLeftIsReportedToTheNext() async {
        let queue = queue()
        let (first, second) = (Observer(), Observer())
        let restore = begin(queue)
        queue.add(first)
        callbacks.suspend()
        queue.change { $0.await([], of: restore) }
        queue.remove(first)
        queue.add(second)
        callbacks.resume()
        await settled(callbacks)
        #expect(await reported(first).isEmpty)
        #expect(await reported(second) == [.restoreFinished])
        // And one that heard of an older end at its beginning.
        let unannounced = begin(queue)
        queue.remove(second)
        _ = await reported(second)
        queue.restoreFailed(unannounced, SKError(.unknown))
        callbacks.suspend()
        queue.add(first)
        queue.remove(first)
        callbacks.resume()
        await settled(callbacks)
        queue.add(second)
        #expect(await reported(first).isEmpty)
        #expect(await reported(second) == [.restoreFailed(.unknown)])
    }

    @Test func aRestoreOfAQueueThatIsReplacedHasFailedForItsObservers() async {
        await #expect(processExitsWith: .success) {
            SKPaymentQueue.configure(.unreachable)
            let old = SKPaymentQueue.default()
            let observer = Observer()
            old.add(observer)
            let unanswered = old.state.withLock { $0.pending.restores.begin() }
            let answered = old.state.withLock { $0.pending.restores.begin() }
            old.change { $0.await([TransactionID(number: 8)], of: answered) }
            SKPaymentQueue.configure(.unreachable)
            old.change { $0.await([], of: unanswered) }
            await withCheckedContinuation { continuation in
                old.callbacks.async { continuation.resume() }
            }
            let failed: [Observer.Call] = [.restoreFailed(.unknown), .restoreFailed(.unknown)]
            exit(observer.calls.withLock { $0 } == failed ? 0 : 1)
        }
    }

    /// A restore that was asked for, as ``SKPaymentQueue/restore(_:)`` asks.
    private func begin(_ queue: SKPaymentQueue) -> PendingRestores.Number {
        queue.state.withLock { $0.pending.restores.begin() }
    }
}
