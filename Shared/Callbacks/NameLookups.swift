import Synchronization

/// Looks up names concurrently, so that a slow name server delays only requests for its own names.
///
/// A name is looked up once, however many callers wait for it, and its addresses are cached for a
/// while.
final class NameLookups: Sendable {
    /// The largest number of concurrent look-ups.
    ///
    /// Further names wait.
    private static let concurrency = 64
    /// The largest number of cached names.
    private static let knownMax = 1_024

    private typealias Waiter = CheckedContinuation<[String], any Error>

    private struct State {
        var known: [String: (addresses: [String], until: ContinuousClock.Instant)] = [:]
        /// The callers that wait for each name that is queued or being looked up.
        var waiters: [String: [Int: Waiter]] = [:]
        var queue: [String] = []
        var underWay = 0
        var lastID = 0

        /// Takes names from the queue, as far as the limit allows, and drops names without waiting
        /// callers.
        mutating func takeFromQueue() -> [String] {
            var taken: [String] = []
            while underWay < concurrency, !queue.isEmpty {
                let name = queue.removeFirst()
                if waiters[name]?.isEmpty == false {
                    underWay += 1
                    taken.append(name)
                } else {
                    waiters[name] = nil
                }
            }
            return taken
        }
    }

    private let resolver: any NameResolver
    private let lifetime: Duration
    private let state = Mutex(State())

    init(resolver: any NameResolver, lifetime: Duration) {
        self.resolver = resolver
        self.lifetime = lifetime
    }

    /// Returns a name's addresses, at least one, with the best one first.
    ///
    /// - Throws: ``NameResolutionError``, or `CancellationError`. The look-up continues for others.
    func addresses(
        of name: String,
        until deadline: ContinuousClock.Instant
    ) async throws -> [String] {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let timer = Task {
            // Cancelled because the addresses have arrived.
            try? await Task.sleep(until: deadline)
            self.giveUp(name, id, NameResolutionError.timedOut)
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                self.wait(for: name, id, waiter, until: deadline)
            }
        } onCancel: {
            self.giveUp(name, id, CancellationError())
        }
    }

    private func wait(
        for name: String,
        _ id: Int,
        _ waiter: Waiter,
        until deadline: ContinuousClock.Instant
    ) {
        typealias Answer = Result<[String], any Error>
        // The cache and the waiting callers are read together. A look-up that ended in between
        // would otherwise be missed, and the name looked up a second time.
        let (answer, names) = state.withLock { state -> (Answer?, [String]) in
            if let known = state.known[name], known.until > .now {
                return (.success(known.addresses), [])
            }
            // A caller that gives up does so before this point, or finds its waiter here.
            if Task.isCancelled { return (.failure(CancellationError()), []) }
            if ContinuousClock.now >= deadline {
                return (.failure(NameResolutionError.timedOut), [])
            }
            if state.waiters[name] == nil { state.queue.append(name) }
            state.waiters[name, default: [:]][id] = waiter
            return (nil, state.takeFromQueue())
        }
        if let answer { waiter.resume(with: answer) }
        names.forEach(lookUp)
    }

    private func giveUp(_ name: String, _ id: Int, _ reason: any Error) {
        let waiter = state.withLock { $0.waiters[name]?.removeValue(forKey: id) }
        waiter?.resume(throwing: reason)
    }

    private func lookUp(_ name: String) {
        Task {
            do {
                let addresses = try await resolver.addresses(of: name)
                guard !addresses.isEmpty else {
                    throw NameResolutionError.unknown("the answer names no address")
                }
                end(name, .success(addresses))
            } catch {
                end(name, .failure(error))
            }
        }
    }

    private func end(_ name: String, _ result: Result<[String], any Error>) {
        let (waiters, names) = state.withLock { state in
            state.underWay -= 1
            if case .success(let addresses) = result {
                if state.known.count >= Self.knownMax {
                    let now = ContinuousClock.now
                    state.known = state.known.filter { $0.value.until > now }
                }
                if state.known.count < Self.knownMax {
                    state.known[name] = (addresses, .now.advanced(by: lifetime))
                }
            }
            return (state.waiters.removeValue(forKey: name) ?? [:], state.takeFromQueue())
        }
        for waiter in waiters.values { waiter.resume(with: result) }
        names.forEach(lookUp)
    }
}
