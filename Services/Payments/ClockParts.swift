import EventTypes
import Messaging
import ServiceFoundation
import ServiceKit

/// The parts of `payments` that keep the store's clock.
struct ClockParts {
    /// Reads the clock, and carries advances out.
    let keeper: ClockKeeper
    /// The routes of administrators.
    private let routes: ClockRoutes

    init(
        _ settings: PaymentsSettings,
        _ environments: StoreEnvironmentWatch,
        runner: ChargeRunner,
        _ works: [DueWorkQueue],
        on frame: ServiceFrame
    ) {
        // An advance also goes on as soon as everything that was due is charged.
        let wakeKeeper = runner.renewals.emptied
        let handler = ClockHandler(
            client: frame.client,
            clock: frame.clock,
            machineNow: frame.machineNow,
            works: [
                DueWorkQueue(
                    name: "expired approvals",
                    oldest: { try AttemptStore.nextApprovalEnd(on: $0) },
                    count: { try AttemptStore.approvalCount(endingBy: $0, on: $1) },
                    wake: { runner.wake() }
                )
            ] + works,
            didCommit: {
                frame.wakeRelay()
                wakeKeeper.send()
            }
        )
        keeper = ClockKeeper(
            handler: handler,
            environment: settings.environment,
            isCharging: { [renewals = runner.renewals] in renewals.isCharging },
            end: { environments.peerSignsUntil },
            signal: wakeKeeper,
            logger: frame.logger
        )
        routes = ClockRoutes(
            clock: handler,
            environment: settings.environment,
            end: { environments.peerSignsUntil }
        )
    }

    /// Keeps the service from being ready until the clock has been read.
    var check: ReadinessCheck {
        ReadinessCheck("store clock owner", failure: { [keeper] in keeper.problem })
    }

    /// Adds the routes that this store has.
    func addRoutes(to router: StoreRouter) { routes.add(to: router) }
}
