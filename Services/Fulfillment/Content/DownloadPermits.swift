import EventTypes
import ServiceKit
import Synchronization

/// Limits the downloads that this instance serves at once, in total and for each account.
///
/// A download holds an open file or a connection to the S3 store for as long as its client takes.
/// Without a limit one account could take them all.
final class DownloadPermits: Sendable {
    /// The limits.
    struct Limits: Sendable {
        var downloadsMax = 1000
        var downloadsPerAccountMax = 20
    }

    private struct State {
        var accounts: [QueueKey: Int] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let limits: Limits

    init(limits: Limits) { self.limits = limits }

    /// The number of downloads under way.
    var count: Int { state.withLock { $0.count } }

    /// Takes a permit, which is held until the returned value is released.
    func take(for queue: QueueKey) throws(CapacityRefusal) -> DownloadPermit {
        try state.withLock { state throws(CapacityRefusal) in
            guard state.accounts[queue, default: 0] < limits.downloadsPerAccountMax else {
                throw .accountHasTooMany
            }
            guard state.count < limits.downloadsMax else { throw .instanceHasTooMany }
            state.accounts[queue, default: 0] += 1
            state.count += 1
        }
        return DownloadPermit(queue: queue, permits: self)
    }

    fileprivate func giveBack(_ queue: QueueKey) {
        state.withLock { state in
            state.count -= 1
            state.accounts[queue, default: 0] -= 1
            if state.accounts[queue] == 0 { state.accounts[queue] = nil }
        }
    }
}

/// The permit of one download, which is given back when this value is released.
final class DownloadPermit: Sendable {
    private let queue: QueueKey
    private let permits: DownloadPermits

    fileprivate init(queue: QueueKey, permits: DownloadPermits) {
        self.queue = queue
        self.permits = permits
    }

    deinit { permits.giveBack(queue) }
}
