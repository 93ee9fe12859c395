import EventTypes
import Logging
import Messaging
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Runs the store's clock: reads it before the service is ready, and carries advances out.
///
/// Every instance runs one. The row of the clock is locked for each step, so an advance goes on if
/// the instance that began it is killed.
final class ClockKeeper: Service {
    /// The pause between two looks at the clock if nobody changes it here.
    private static let restWhileReady = Duration.seconds(5)
    /// The rest after a look at an advance, in proportion to the length of the look.
    ///
    /// Among many renewals a look takes some milliseconds, and the end of the renewals is signalled.
    private static let restPerLook = 25
    /// The shortest and the longest of these rests.
    private static let restsWhileAdvancing = Duration.milliseconds(20)...Duration.milliseconds(200)

    private let handler: ClockHandler
    private let environment: StoreEnvironment
    /// Whether this process charges renewals, whose end is signalled.
    private let isCharging: @Sendable () -> Bool
    /// The last time at which receipts can be signed; `nil` while `receipts` has not said it.
    private let end: @Sendable () -> StoreTime?
    private let logger: Logger
    private let signal: Signal
    /// When to see again whether the broker has lost the changes of the clock.
    private let nextAnnouncement = Mutex(ContinuousClock.now)
    /// When to wake again the parts that do the work that an advance waits for.
    private let nextWaking = Mutex(ContinuousClock.now)
    private let trouble = Mutex<String?>("the store's clock has not been read yet")

    /// Makes a keeper, which does nothing before ``run()``; the signal carries an advance on at once.
    init(
        handler: ClockHandler,
        environment: StoreEnvironment,
        isCharging: @escaping @Sendable () -> Bool = { false },
        end: @escaping @Sendable () -> StoreTime?,
        signal: Signal = Signal(),
        logger: Logger
    ) {
        self.handler = handler
        self.environment = environment
        self.isCharging = isCharging
        self.end = end
        self.signal = signal
        self.logger = logger
    }

    /// The reason why the service is not ready, as a sentence without its full stop.
    var problem: String? { trouble.withLock { $0 } }

    /// Runs until the service shuts down.
    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await self.handler.waitForSchema()
                await self.keep()
                // Nobody sets the clock of a store in production.
                try await gracefulShutdown()
            }
        } catch is CancellationError {
            // The service shuts down.
        }
    }

    private func keep() async {
        while !Task.isCancelled {
            var rest = Self.restWhileReady
            let start = ContinuousClock.now
            do {
                if try await look() {
                    rest = Self.rest(after: .now - start, isCharging: isCharging())
                }
                guard environment == .sandbox else { return }
            } catch is CancellationError {
                return
            } catch {
                logger.warning(
                    "The store's clock could not be read or moved; trying again",
                    metadata: ["error": "\(error)"]
                )
                rest = .seconds(1)
            }
            try? await signal.wait(atMost: rest)  // If cancelled, the loop ends.
        }
    }

    /// The rest after a look at an advance that waits.
    ///
    /// While renewals are charged a look finds nothing new, so it rests as long as it may.
    static func rest(after look: Duration, isCharging: Bool = false) -> Duration {
        let rests = restsWhileAdvancing
        guard !isCharging else { return rests.upperBound }
        return min(max(look * restPerLook, rests.lowerBound), rests.upperBound)
    }

    /// Reads the clock, and moves it as far as it goes now.
    ///
    /// - Returns: Whether an advance is on its way.
    func look() async throws -> Bool {
        let state = try await handler.load()
        handler.clock.follow(state.followed.clock, step: state.followed.step)
        trouble.withLock { $0 = nil }
        guard environment == .sandbox else { return false }
        if state.followed.step > 0, Self.isDue(nextAnnouncement) {
            try await handler.announceAfterLoss()
        }
        guard case .advancing = state.status else { return false }
        guard let end = end() else { return true }
        do {
            while true {
                if try await waitsForWork() {
                    wakeWorks()
                    return true
                }
                let reply = try await move(end)
                guard case .advancing = reply.state.status else { return false }
                if !reply.isChanged { return true }
            }
        } catch let error as DueWorkError where !error.isRetriable {
            logger.error("An advance of the store's clock failed", metadata: ["error": "\(error)"])
            _ = try await handler.perform(.fail(reason: "\(error)"), end: end, trace: nil)
            return false
        }
    }

    /// Whether it is time for what an advance does less often than it looks at the clock.
    private static func isDue(_ next: borrowing Mutex<ContinuousClock.Instant>) -> Bool {
        next.withLock { next in
            guard ContinuousClock.now >= next else { return false }
            next = .now + .seconds(1)
            return true
        }
    }

    /// Whether something is due that an advance has to wait for, read without locking the clock.
    ///
    /// Charges and outcomes are written while they hold the clock (``ClockStore/holdClock(at:on:follow:)``).
    /// A look that locks it waits for those that are under way, and the next ones wait for the look.
    private func waitsForWork() async throws -> Bool {
        let now = handler.clock.now
        let next = try await handler.nextDue()
        return next.map { $0 <= now } ?? false
    }

    /// Wakes the parts that do the work that an advance waits for.
    ///
    /// - Parameter hasMoved: Whether the clock has just been moved. What another instance has moved and
    ///   left, as when it was killed, is found a little later.
    private func wakeWorks(hasMoved: Bool = false) {
        guard hasMoved || Self.isDue(nextWaking) else { return }
        for work in handler.works { work.wake() }
    }

    /// Moves the clock of an advance to the next time at which work falls due.
    ///
    /// It locks the clock and looks again, so that nothing falls due unseen.
    ///
    /// - Returns: The clock, and whether it moved. It does not while due work is not done.
    private func move(_ end: StoreTime) async throws -> ClockHandler.Reply {
        let result = try await handler.perform(end: end, trace: nil) {
            [handler] state, now, connection in
            guard case .advancing(let advance) = state.status else { return nil }
            let next = try handler.nextDue(on: connection)
            let command = Self.command(at: now, target: advance.target, next: next)
            if case .reach(let next) = command {
                let time = min(next ?? advance.target, advance.target)
                var counts: [String: Int64] = [:]
                for work in handler.works {
                    let count = try work.count?(time, connection) ?? 0
                    if count > 0 { counts[work.name] = count }
                }
                if !counts.isEmpty {
                    try ClockStore.add(counts, to: advance.key, on: connection)
                }
            }
            return command
        }
        let reply = try result.get()
        wakeWorks(hasMoved: reply.isChanged)
        return reply
    }

    /// The command that carries an advance on; `nil` while something that is due has to be done.
    static func command(
        at now: StoreTime,
        target: StoreTime,
        next: StoreTime?
    ) -> ClockCommand? {
        if let next, next <= now { return nil }
        return now < target ? .reach(next) : .finish
    }
}
