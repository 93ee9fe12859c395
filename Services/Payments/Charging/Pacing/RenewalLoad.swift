import Messaging
import Synchronization

/// The charges of renewals that are under way in this process, and whether buyers wait beside them.
///
/// Safe to use from any task, but only one may call ``wait(untilBelow:atMost:)``.
final class RenewalLoad: Sendable {
    /// A signal that no charge of a renewal is under way any more, for an advance of the store's clock.
    let emptied = Signal()

    /// The time for which a purchase counts as a sign of further ones.
    private static let memory = Duration.seconds(1)
    /// The longest time between two looks, which matters only if a signal is lost.
    private static let patience = Duration.seconds(1)

    private struct State {
        var open = 0
        var boughtAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let signal = Signal()

    /// Notes that charges of renewals were queued.
    func began(_ count: Int) {
        state.withLock { $0.open += count }
    }

    /// Notes that charges of renewals were carried out.
    func carriedOut(_ count: Int) {
        state.withLock { $0.open -= count }
        signal.send()
        tellIfEmpty()
    }

    /// Whether a charge of a renewal is under way.
    ///
    /// If so, ``emptied`` is sent once none is.
    var isCharging: Bool { state.withLock { $0.open > 0 } }

    /// Sends ``emptied`` if no charge of a renewal is under way.
    func tellIfEmpty() {
        if !isCharging { emptied.send() }
    }

    /// Notes that somebody asks to buy, or that a purchase is to be charged.
    func noteBuyers(at now: ContinuousClock.Instant = .now) {
        state.withLock { $0.boughtAt = now }
    }

    /// Whether somebody has bought something a moment ago.
    func hasBuyers(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { $0.boughtAt.map { now - $0 < Self.memory } ?? false }
    }

    /// The pace of renewals at this moment.
    func pace(at now: ContinuousClock.Instant = .now) -> RenewalPace {
        hasBuyers(at: now) ? .besideBuyers : .alone
    }

    /// Whether somebody has bought something a moment ago, or charges of renewals are under way.
    var isBusy: Bool { hasBuyers() || isCharging }

    /// Waits until fewer charges of renewals are under way than a number, or for a time.
    ///
    /// Due actions also end periods and grace, so a processor that does not answer must not hold them
    /// up for long.
    ///
    /// - Parameters:
    ///   - count: The number.
    ///   - limit: The longest time to wait.
    /// - Throws: `CancellationError`.
    func wait(untilBelow count: Int, atMost limit: Duration = .seconds(5)) async throws {
        let deadline = ContinuousClock.now + limit
        while state.withLock({ $0.open }) >= count, .now < deadline {
            try await signal.wait(atMost: Self.patience)
        }
    }
}
