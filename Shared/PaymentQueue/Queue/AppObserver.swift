/// A reference to one of the app's observers.
///
/// It is `@unchecked` because observers and delegates need not be sendable. The library stores
/// references to them under locks, and calls them only on the queue's callback queue, as the app
/// expects. Only this type and ``WeakAppObject`` make that promise.
struct AppObserver: @unchecked Sendable {
    let observer: any SKPaymentTransactionObserver

    /// Whether it is the library's own observer, which only waits for transactions.
    var isFollower: Bool { observer is UpdatesObserver }

    /// Ends the observation: the observer will not be called again.
    func endFollowing() { (observer as? UpdatesObserver)?.queueDidClose() }

    static func === (left: Self, right: Self) -> Bool { left.observer === right.observer }
}

/// A weak reference to one of the app's delegates.
///
/// For `@unchecked` see ``AppObserver``.
struct WeakAppObject: @unchecked Sendable {
    weak var object: AnyObject?
}
