/// A reference to one of the app's observers.
///
/// The library stores references to observers and delegates under locks. It calls them only on the
/// queue's callback queue, as the app expects.
struct AppObserver:
    @unchecked Sendable  // The app need not make its observer sendable: one queue calls it.
{
    let observer: any SKPaymentTransactionObserver

    /// Whether it is the library's own observer, which only waits for transactions.
    var isFollower: Bool { observer is UpdatesObserver }

    /// Ends the observation: the observer will not be called again.
    func endFollowing() { (observer as? UpdatesObserver)?.queueDidClose() }

    static func === (left: Self, right: Self) -> Bool { left.observer === right.observer }
}

/// A weak reference to one of the app's delegates; see ``AppObserver``.
struct WeakAppObject:
    @unchecked Sendable  // The app need not make its delegate sendable: one queue calls it.
{
    weak var object: AnyObject?
}
