/// An observer of the app's, in the library's hands.
///
/// `@unchecked`: observers and delegates need not be sendable. The library keeps references to them
/// and passes them on under locks, and calls them on the queue's callback queue alone, which is
/// where the app expects it; this and ``WeakAppObject`` are the only places that promise it.
struct AppObserver: @unchecked Sendable {
    let observer: any SKPaymentTransactionObserver

    /// Whether it is the library's own, and waits for transactions alone.
    var isFollower: Bool { observer is UpdatesObserver }

    /// Nothing more will be said to it.
    func endFollowing() { (observer as? UpdatesObserver)?.queueDidClose() }

    static func === (left: Self, right: Self) -> Bool { left.observer === right.observer }
}

/// A delegate of the app's, held weakly.
///
/// `@unchecked`: see ``AppObserver``.
struct WeakAppObject: @unchecked Sendable {
    weak var object: AnyObject?
}
