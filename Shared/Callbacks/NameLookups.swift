import Synchronization

/// Looks up names side by side, so that a name whose server is slow is waited for by nobody but who
/// asks for it.
///
/// A name is looked up once however many ask for it, and its addresses are remembered for a while.
final class NameLookups: Sendable {
    /// How many names are looked up at once; further ones wait for one of them to end.
    private static let concurrency = 64
    /// How long addresses are remembered; `getaddrinfo` does not tell how long they hold.
    private static let lifetime = Duration.seconds(10)
    /// How many names are remembered.
    private static let knownMax = 1_024

    private typealias Waiter = CheckedContinuation<[String], any Error>

    private struct State {
        var known: [String: (addresses: [String], until: ContinuousClock.Instant)] = [:]
        /// Who waits for each name that is being looked up or is to be.
        var waiters: [String: [Int: Waiter]] = [:]
        var queue: [String] = []
        var underWay = 0
        var lastID = 0

        /// The names of the queue that there is room for; what nobody waits for any more is dropped.
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
    private let state = Mutex(State())

    init(resolver: any NameResolver) {
        self.resolver = resolver
    }

    /// A name's addresses, the best one first; at least one.
    ///
    /// - Throws: ``NameResolutionError``, or `CancellationError`. The look-up goes on, for others.
    func addresses(
        of name: String,
        until deadline: ContinuousClock.Instant
    ) async throws -> [String] {
        let (known, id) = state.withLock { state in
            state.lastID += 1
            return (state.known[name], state.lastID)
        }
        if let known, known.until > .now { return known.addresses }
        let timer = Task {
            // Cancelled: the addresses are there.
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
        let (names, refusal) = state.withLock { state -> ([String], (any Error)?) in
            // Who gives up comes before this or finds the waiter.
            if Task.isCancelled { return ([], CancellationError()) }
            if ContinuousClock.now >= deadline { return ([], NameResolutionError.timedOut) }
            if state.waiters[name] == nil { state.queue.append(name) }
            state.waiters[name, default: [:]][id] = waiter
            return (state.takeFromQueue(), nil)
        }
        if let refusal { waiter.resume(throwing: refusal) }
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
                guard !addresses.isEmpty else { throw NameResolutionError.unknown("none is told") }
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
                    state.known[name] = (addresses, .now.advanced(by: Self.lifetime))
                }
            }
            return (state.waiters.removeValue(forKey: name) ?? [:], state.takeFromQueue())
        }
        for waiter in waiters.values { waiter.resume(with: result) }
        names.forEach(lookUp)
    }
}
