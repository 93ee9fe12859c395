import EventTypes
import Synchronization

/// How many downloads this instance serves at once, and of one account.
///
/// A download holds an open file or a connection to the store of contents for as long as its client
/// takes, so without a bound one account could take them all.
final class DownloadPlaces: Sendable {
    /// How many there may be.
    struct Limits: Sendable {
        var downloadsMax = 1000
        var downloadsPerAccountMax = 20
    }

    /// Why there is no place.
    enum Refusal: Error {
        case accountHasTooMany
        case instanceHasTooMany
    }

    private struct State {
        var accounts: [QueueKey: Int] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let limits: Limits

    init(limits: Limits) { self.limits = limits }

    /// How many are taken.
    var count: Int { state.withLock { $0.count } }

    /// Takes a place, until the answer is let go.
    func take(for queue: QueueKey) throws(Refusal) -> DownloadPlace {
        try state.withLock { state throws(Refusal) in
            guard state.accounts[queue, default: 0] < limits.downloadsPerAccountMax else {
                throw .accountHasTooMany
            }
            guard state.count < limits.downloadsMax else { throw .instanceHasTooMany }
            state.accounts[queue, default: 0] += 1
            state.count += 1
        }
        return DownloadPlace(queue: queue, places: self)
    }

    fileprivate func giveBack(_ queue: QueueKey) {
        state.withLock { state in
            state.count -= 1
            state.accounts[queue, default: 0] -= 1
            if state.accounts[queue] == 0 { state.accounts[queue] = nil }
        }
    }
}

/// One download's place; letting go of it gives it back.
final class DownloadPlace: Sendable {
    private let queue: QueueKey
    private let places: DownloadPlaces

    fileprivate init(queue: QueueKey, places: DownloadPlaces) {
        self.queue = queue
        self.places = places
    }

    deinit { places.giveBack(queue) }
}
