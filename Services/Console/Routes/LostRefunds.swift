import EventTypes
import StoreAPI
import Synchronization

/// The keys of refunds whose answers were lost.
///
/// Whoever opens such a purchase again gets the same key in the form. So the refund that may have been
/// made is not made twice, on whatever way one goes back.
final class LostRefunds: Sendable {
    /// The most keys in memory; beyond it, any one makes room.
    static let countMax = 1000

    private let keys = Mutex<[TransactionID: IdempotencyKey]>([:])

    /// The key of a purchase's refund whose answer was lost; `nil` if there is none.
    func key(of id: TransactionID) -> IdempotencyKey? { keys.withLock { $0[id] } }

    /// Notes that no answer came.
    func note(_ key: IdempotencyKey, of id: TransactionID) {
        keys.withLock { keys in
            if keys.count >= Self.countMax, keys[id] == nil, let any = keys.keys.first {
                keys[any] = nil
            }
            keys[id] = key
        }
    }

    /// Forgets a key, because the store has answered.
    func forget(_ id: TransactionID) { keys.withLock { $0[id] = nil } }
}
