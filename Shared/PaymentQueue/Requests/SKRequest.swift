import Dispatch
import Synchronization

/// Asks the store something and tells a delegate how it ended (spec rule 89).
///
/// Keep a reference to it until it has ended. The delegate is called on the default queue's callback
/// queue.
public class SKRequest: @unchecked Sendable {
    // `@unchecked`: everything that changes is in the mutex; subclasses add only constants.

    private struct State: ~Copyable {
        var delegate = WeakAppObject()
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    init() {}

    /// Whom to tell; held weakly.
    public var delegate: (any SKRequestDelegate)? {
        get { state.withLock { $0.delegate }.object as? any SKRequestDelegate }
        set {
            let delegate = WeakAppObject(object: newValue)
            state.withLock { $0.delegate = delegate }
        }
    }

    /// Sends the request; once started it is not started again.
    public func start() {
        let queue = SKPaymentQueue.default()
        state.withLock { state in
            guard state.task == nil, !state.isCancelled else { return }
            state.task = Task {
                do {
                    let tell = try await self.perform(on: queue)
                    self.end(on: queue) { delegate in
                        tell(delegate)
                        delegate.requestDidFinish(self)
                    }
                } catch {
                    self.end(on: queue) { $0.request(self, didFailWithError: SKError(error)) }
                }
            }
        }
    }

    /// Calls it off; the delegate hears no more.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.task?.cancel()
        }
    }

    /// Asks the store.
    ///
    /// - Returns: What the delegate is told before it is told that the request has finished.
    func perform(
        on queue: SKPaymentQueue
    ) async throws -> @Sendable (any SKRequestDelegate) -> Void {
        { _ in }
    }

    private func end(
        on queue: SKPaymentQueue,
        _ tell: @escaping @Sendable (any SKRequestDelegate) -> Void
    ) {
        queue.callbacks.async {
            guard !self.state.withLock({ $0.isCancelled }), let delegate = self.delegate else {
                return
            }
            tell(delegate)
        }
    }
}

/// Hears how a request ended.
public protocol SKRequestDelegate: AnyObject {
    /// It was answered.
    func requestDidFinish(_ request: SKRequest)
    /// It was not answered.
    func request(_ request: SKRequest, didFailWithError error: any Error)
}

extension SKRequestDelegate {
    /// Does nothing.
    public func requestDidFinish(_ request: SKRequest) {}
    /// Does nothing.
    public func request(_ request: SKRequest, didFailWithError error: any Error) {}
}
