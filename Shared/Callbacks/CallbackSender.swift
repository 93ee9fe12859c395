public import Logging
import Messaging
public import ServiceLifecycle
import Synchronization

/// A call of a merchant's endpoint that was taken on: one try of it.
public protocol Callback: Sendable {
    /// Where it goes, as `EndpointAddress.host(of:)` says.
    var host: String { get }
}

/// A ledger of calls that are owed.
///
/// Its rows say that a try is made before it is made. One that is taken on is nobody else's until a
/// lease is over, so a killed sender's calls come back by themselves.
public protocol CallbackLedger: Sendable {
    associatedtype Call: Callback

    /// Takes on calls that are due, but none to these hosts.
    func take(limit: Int, excluding hosts: [String]) async throws -> [Call]
    /// How long it is until the next call is due; `nil` if none is owed.
    func untilNextDue() async throws -> Duration?
    /// Makes a try and records how it ended.
    func perform(_ call: Call) async
    /// Gives up what it holds; asked once, after the last try.
    func shutDown() async throws
}

/// Makes the calls of merchants' endpoints that are owed, many at once.
///
/// It works through what is due, then waits for the next to become due or for the word that there
/// are new ones.
public final class CallbackSender<Ledger: CallbackLedger>: Service {
    private let ledger: Ledger
    private let limits: CallbackLimits
    private let logger: Logger
    private let signal = Signal()
    private let inFlight = Mutex(InFlight())

    private struct InFlight {
        var count = 0
        var perHost: [String: Int] = [:]
        var isStopping = false
    }

    /// Makes a sender.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - ledger: Where the calls come from and are recorded.
    ///   - limits: How much is sent at once.
    ///   - logger: Gets what goes wrong.
    public init(ledger: Ledger, limits: CallbackLimits, logger: Logger) {
        self.ledger = ledger
        self.limits = limits
        self.logger = logger
    }

    /// Says that there may be calls to make.
    public func wake() {
        signal.ring()
    }

    /// Sends until the service shuts down; what is under way then is brought to its end.
    public func run() async throws {
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                while !Task.isCancelled, !inFlight.withLock({ $0.isStopping }) {
                    let pause = await startDue(in: &group)
                    // Cancelled: the loop's condition ends it.
                    try? await signal.wait(atMost: pause)
                }
            } onGracefulShutdown: {
                self.inFlight.withLock { $0.isStopping = true }
                self.signal.ring()
            }
        }
        try await ledger.shutDown()
    }

    /// Starts what is due and there is room for.
    ///
    /// - Returns: How long to wait unless a try ends or something new comes.
    private func startDue(in group: inout DiscardingTaskGroup) async -> Duration {
        do {
            while true {
                let (room, busiest, busyHosts) = inFlight.withLock { state in
                    let busy = state.perHost.filter { $0.value >= limits.concurrencyPerHost }
                    let busiest = state.perHost.values.filter { $0 < limits.concurrencyPerHost }
                    return (
                        limits.concurrency - state.count, busiest.max() ?? 0, Array(busy.keys)
                    )
                }
                // Each try that ends rings.
                guard room > 0 else { return limits.pollInterval }
                // All that is taken may be for the host that has most under way already.
                let limit = min(room, limits.concurrencyPerHost - busiest)
                let calls = try await ledger.take(limit: limit, excluding: busyHosts)
                for call in calls {
                    inFlight.withLock { state in
                        state.count += 1
                        state.perHost[call.host, default: 0] += 1
                    }
                    group.addTask {
                        await self.ledger.perform(call)
                        self.finish(call)
                    }
                }
                guard calls.count == limit else {
                    guard busyHosts.isEmpty, let due = try await ledger.untilNextDue() else {
                        return limits.pollInterval
                    }
                    return min(max(due, .milliseconds(1)), limits.pollInterval)
                }
            }
        } catch {
            logger.debug(
                "Calls of merchants' endpoints cannot be taken on",
                metadata: ["error": "\(error)"]
            )
            return limits.pollInterval
        }
    }

    private func finish(_ call: Ledger.Call) {
        inFlight.withLock { state in
            state.count -= 1
            let left = state.perHost[call.host, default: 1] - 1
            state.perHost[call.host] = left > 0 ? left : nil
        }
        signal.ring()
    }
}

/// How many calls are made at once, and how often the ledger is looked through.
public struct CallbackLimits: Sendable {
    /// Calls under way at once.
    public var concurrency: Int
    /// How long at most until the ledger is looked through again, for what other instances left.
    public var pollInterval: Duration

    /// Makes limits.
    public init(concurrency: Int = 32, pollInterval: Duration = .seconds(5)) {
        self.concurrency = concurrency
        self.pollInterval = pollInterval
    }

    /// How many go to one host at once, so that one that hangs does not hold up the others.
    var concurrencyPerHost: Int { max(1, concurrency / 4) }
}
