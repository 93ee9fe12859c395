/// An observer of the library itself, which waits for news in place of an app.
///
/// Unlike an app's observer it is informed of refunds, of connections and of the end of the queue, and
/// not of restores.
protocol QueueFollower: SKPaymentTransactionObserver {
    /// Receives finished transactions that were refunded.
    func receive(refunded transactions: [SKPaymentTransaction])
    /// Learns that the stream was opened or that the app is active again, so that news may have been
    /// missed.
    func queueDidConnect()
    /// Ends the observation: there will be no more news.
    func queueDidClose()
}

extension QueueFollower {
    func queueDidConnect() {}
}

/// A reference to one of the app's observers.
///
/// The library stores references to observers and delegates under locks. It calls them only on the
/// queue's callback queue, as the app expects.
struct AppObserver:
    @unchecked Sendable  // The app need not make its observer sendable: one queue calls it.
{
    let observer: any SKPaymentTransactionObserver

    /// Whether it is one of the library's own observers.
    var isFollower: Bool { observer is any QueueFollower }

    /// Ends the observation: the observer will not be called again.
    func endFollowing() { (observer as? any QueueFollower)?.queueDidClose() }

    static func === (left: Self, right: Self) -> Bool { left.observer === right.observer }
}

/// A weak reference to one of the app's delegates; see ``AppObserver``.
struct WeakAppObject:
    @unchecked Sendable  // The app need not make its delegate sendable: one queue calls it.
{
    weak var object: AnyObject?
}
