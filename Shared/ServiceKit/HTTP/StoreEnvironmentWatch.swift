import AsyncHTTPClient
public import EventTypes
import Foundation
import Hummingbird
public import Logging
import NIOCore
import NIOHTTP1
public import ServiceLifecycle
import Synchronization

/// Compares a service's environment with that of another service of the same store.
///
/// It asks the other service at `/health/environment` every two seconds, and every thirty seconds while
/// that one agrees. Another setting comes with a restart, and a service that starts asks at once. While
/// the two differ, the service is not ready and reports the reason. Once both have the same setting, it is
/// ready again.
/// If the other service does not answer, nothing changes, so each service can start and run without
/// the other.
///
/// Safe to use from any task.
public final class StoreEnvironmentWatch: Service {
    private struct State {
        /// The last answer of the other service.
        var peerEnvironment: String?
        /// The last time at which the other service can sign, if it has said so.
        var peerSignsUntil: StoreTime?
        /// The environment of an event that was not applied.
        var foreignEnvironment: String?
    }

    private static let path = "/health/environment"
    private static let answerMax = 4096
    /// The pause while the other service agrees, as a multiple of the interval.
    private static let patience = 15

    private let service: ServiceName
    /// The service's own environment.
    public let environment: StoreEnvironment
    private let peer: ServiceName
    private let url: String
    private let signsUntil: StoreTime?
    private let interval: Duration
    private let logger: Logger
    private let state = Mutex(State())

    /// Makes a watch, which sends nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - service: The service that asks.
    ///   - environment: Its environment.
    ///   - peer: The service that is asked.
    ///   - url: The URL of that service.
    ///   - signsUntil: The last time at which this service can sign; `nil` if it does not sign.
    ///   - interval: The pause between two requests. It is fifteen times as long while the other service
    ///     answers and agrees.
    ///   - logger: Receives a report of a disagreement.
    public init(
        service: ServiceName,
        environment: StoreEnvironment,
        peer: ServiceName,
        at url: String,
        signsUntil: StoreTime? = nil,
        interval: Duration = .seconds(2),
        logger: Logger
    ) {
        self.service = service
        self.environment = environment
        self.peer = peer
        self.url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + Self.path
        self.signsUntil = signsUntil
        self.interval = interval
        self.logger = logger
    }

    /// The readiness check, which fails while the environments differ.
    public var check: ReadinessCheck {
        ReadinessCheck("environment") { [self] in disagreement }
    }

    /// The last time at which the other service can sign; `nil` if it has not answered yet.
    public var peerSignsUntil: StoreTime? { state.withLock { $0.peerSignsUntil } }

    /// The known disagreement, as a sentence without its full stop; `nil` if there is none.
    public var disagreement: String? {
        let state = state.withLock { $0 }
        if let foreign = state.foreignEnvironment {
            return """
                \(service) works with STORE_ENVIRONMENT=\(environment.rawValue), and transactions of \
                \(peer) were made with STORE_ENVIRONMENT=\(foreign); they wait until both are set alike
                """
        }
        guard let said = state.peerEnvironment, said != environment.rawValue else { return nil }
        return """
            \(service) works with STORE_ENVIRONMENT=\(environment.rawValue), and \(peer) with \
            STORE_ENVIRONMENT=\(said); set both alike and restart the one that was wrong
            """
    }

    /// Notes that an event of another environment arrived and was not applied.
    ///
    /// The service is not ready from then on. Only a process with another setting can apply the
    /// event.
    public func noteForeignEvent(of environment: String) {
        state.withLock { $0.foreignEnvironment = environment }
    }

    /// Adds the route at which the other service asks this one.
    public func addRoute(to router: StoreRouter) {
        let answer = StoreEnvironmentAnswer(
            service: service.rawValue,
            environment: environment.rawValue,
            signsUntil: signsUntil
        )
        router.open.get("\(Self.path)") { _, _ in try jsonResponse(answer) }
    }

    /// Asks until the service shuts down.
    public func run() async throws {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let answer = await ask()
            if let answer {
                note(answer.environment)
                if let end = answer.signsUntil { state.withLock { $0.peerSignsUntil = end } }
            }
            do {
                try await cancelWhenGracefulShutdown { [self] in
                    try await Task.sleep(for: pause(isAnswered: answer != nil))
                }
            } catch is CancellationError {
                return
            }
        }
    }

    /// The pause before the next request.
    func pause(isAnswered: Bool) -> Duration {
        isAnswered && disagreement == nil ? interval * Self.patience : interval
    }

    /// Stores the environment that the other service reports.
    func note(_ said: String) {
        let before = state.withLock { state in
            defer { state.peerEnvironment = said }
            return state.peerEnvironment
        }
        guard said != before, said != environment.rawValue else { return }
        logger.error(
            "The store's services disagree about the environment",
            metadata: ["disagreement": "\(disagreement ?? "")"]
        )
    }

    /// The answer of the other service; `nil` if it does not answer, or another service does.
    private func ask() async -> StoreEnvironmentAnswer? {
        do {
            let response = try await HTTPClient.shared.execute(
                HTTPClientRequest(url: url),
                timeout: .seconds(2)
            )
            guard response.status == .ok else { return nil }
            let body = try await response.body.collect(upTo: Self.answerMax)
            let answer = try JSONDecoder().decode(
                StoreEnvironmentAnswer.self,
                from: Data(body.readableBytesView)
            )
            return answer.service == peer.rawValue ? answer : nil
        } catch {
            // The other service is not running or is unreachable, so its environment is unknown.
            return nil
        }
    }
}

/// A service's answer about its environment.
private struct StoreEnvironmentAnswer: Codable, Sendable {
    let service: String
    let environment: String
    /// Absent from a service that does not sign.
    var signsUntil: StoreTime?
}
