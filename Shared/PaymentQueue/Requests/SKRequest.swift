import Dispatch
import Synchronization

/// A request to the store that reports its outcome to a delegate (spec rule 89).
///
/// Keep a reference to it until it has ended. The delegate is called on the default queue's
/// callback queue.
public class SKRequest:
    @unchecked Sendable  // Only a final class may go without. Its variables are in a mutex.
{
    private struct State: ~Copyable {
        var delegate = WeakAppObject()
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    init() {}

    /// The delegate.
    ///
    /// It is held weakly.
    public var delegate: (any SKRequestDelegate)? {
        get { state.withLock { $0.delegate }.object as? any SKRequestDelegate }
        set {
            let delegate = WeakAppObject(object: newValue)
            state.withLock { $0.delegate = delegate }
        }
    }

    /// Sends the request.
    ///
    /// A request can be started only once.
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

    /// Cancels the request.
    ///
    /// The delegate is not called after that.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.task?.cancel()
        }
    }

    /// Performs the request.
    ///
    /// - Returns: A call to make on the delegate before it is informed that the request has
    ///   finished.
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

/// The delegate of a request.
public protocol SKRequestDelegate: AnyObject {
    /// The request succeeded.
    func requestDidFinish(_ request: SKRequest)
    /// The request failed.
    func request(_ request: SKRequest, didFailWithError error: any Error)
}

extension SKRequestDelegate {
    /// Does nothing.
    public func requestDidFinish(_ request: SKRequest) {}
    /// Does nothing.
    public func request(_ request: SKRequest, didFailWithError error: any Error) {}
}
