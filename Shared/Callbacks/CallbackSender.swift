public import Logging
import Messaging
public import ServiceLifecycle
import Synchronization

/// A call of a merchant's endpoint that was leased, for one try.
public protocol Callback: Sendable {
    /// The host of the endpoint, as from `EndpointAddress.host(of:)`.
    var host: String { get }
}

/// The stored calls that are pending.
///
/// A row records a try before the try is made. A leased call belongs to one sender until the lease
/// ends, so the calls of a killed sender become due again by themselves.
public protocol OutgoingCalls: Sendable {
    associatedtype Call: Callback

    /// Leases calls that are due, except those to the given hosts.
    func take(limit: Int, excluding hosts: [String]) async throws -> [Call]
    /// Returns the time until the next call is due, or `nil` if none is pending.
    ///
    /// The time is zero if one is due already.
    func untilNextDue() async throws -> Duration?
    /// Makes a try and records its outcome.
    func perform(_ call: Call) async
    /// Releases its resources.
    ///
    /// It is called once, after the last try.
    func shutDown() async throws
}

/// Makes the pending calls of merchants' endpoints, many at once.
///
/// It makes all calls that are due. Then it waits until the next call is due, or until it is woken
/// because there are new ones.
public final class CallbackSender<Calls: OutgoingCalls>: Service {
    private let calls: Calls
    private let limits: CallbackLimits
    private let logger: Logger
    private let signal = Signal()
    private let inFlight = Mutex(InFlight())

    private struct InFlight {
        var count = 0
        var perHost: [String: Int] = [:]
        var isStopping = false
        /// Whether the last look found no call that was due, and none is under way.
        var isQuiet = false
    }

    /// Creates a sender.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - calls: The source of the calls and the record of their outcomes.
    ///   - limits: The limits of concurrent calls.
    ///   - logger: Logs failures.
    public init(calls: Calls, limits: CallbackLimits, logger: Logger) {
        self.calls = calls
        self.limits = limits
        self.logger = logger
    }

    /// Wakes the sender because there may be calls to make.
    public func wake() {
        signal.send()
    }

    /// Makes calls until the service shuts down, and completes those under way.
    public func run() async throws {
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                while !Task.isCancelled, !inFlight.withLock({ $0.isStopping }) {
                    let pause = await startDue(in: &group)
                    // If the task is cancelled, the condition of the loop ends it.
                    try? await signal.wait(atMost: pause)
                }
            } onGracefulShutdown: {
                self.inFlight.withLock { $0.isStopping = true }
                self.signal.send()
            }
        }
        try await calls.shutDown()
    }

    /// Starts calls that are due, as far as the limits allow.
    ///
    /// - Returns: The time to wait, unless a try ends or a new call arrives before.
    private func startDue(in group: inout DiscardingTaskGroup) async -> Duration {
        do {
            // Reading a time costs less than a database transaction that leases nothing.
            if inFlight.withLock({ $0.isQuiet }) {
                let due = try await calls.untilNextDue()
                guard due == .zero else { return pause(until: due) }
            }
            while true {
                let (room, busiest, busyHosts) = inFlight.withLock { state in
                    let busy = state.perHost.filter { $0.value >= limits.concurrencyPerHost }
                    let busiest = state.perHost.values.filter { $0 < limits.concurrencyPerHost }
                    return (
                        limits.concurrency - state.count, busiest.max() ?? 0, Array(busy.keys)
                    )
                }
                // Every try that ends wakes the loop.
                guard room > 0 else { return limits.pollInterval }
                // All leased calls may be for the host that already has the most under way.
                let limit = min(room, limits.concurrencyPerHost - busiest)
                let leased = try await calls.take(limit: limit, excluding: busyHosts)
                inFlight.withLock { $0.isQuiet = leased.isEmpty && $0.count == 0 }
                for call in leased {
                    inFlight.withLock { state in
                        state.count += 1
                        state.perHost[call.host, default: 0] += 1
                    }
                    group.addTask {
                        await self.calls.perform(call)
                        self.finish(call)
                    }
                }
                guard leased.count == limit else {
                    let due = try await busyHosts.isEmpty ? calls.untilNextDue() : nil
                    return pause(until: due)
                }
            }
        } catch {
            logger.debug(
                "Calls of merchants' endpoints cannot be leased",
                metadata: ["error": "\(error)"]
            )
            return limits.pollInterval
        }
    }

    /// The time to wait until a call is due; `nil` stands for a time that is not known.
    private func pause(until due: Duration?) -> Duration {
        min(max(due ?? limits.pollInterval, .milliseconds(1)), limits.pollInterval)
    }

    private func finish(_ call: Calls.Call) {
        inFlight.withLock { state in
            state.count -= 1
            let left = state.perHost[call.host, default: 1] - 1
            state.perHost[call.host] = left > 0 ? left : nil
        }
        signal.send()
    }
}

/// The limits of concurrent calls, and the interval for reading the calls.
public struct CallbackLimits: Sendable {
    /// The largest number of calls under way at once.
    public var concurrency: Int
    /// The longest time until the calls are read again, for calls that other instances left.
    public var pollInterval: Duration

    /// Creates limits.
    public init(concurrency: Int = 32, pollInterval: Duration = .seconds(5)) {
        self.concurrency = concurrency
        self.pollInterval = pollInterval
    }

    /// The largest number of calls to one host at once, so that a hanging host does not block the
    /// others.
    var concurrencyPerHost: Int { max(1, concurrency / 4) }
}
