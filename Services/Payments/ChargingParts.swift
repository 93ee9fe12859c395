import ClockAndIDs
import EventTypes
import Logging
import ServiceFoundation
import ServiceKit
import ServiceLifecycle
import StoreAPI
import Subscriptions

/// The parts of `payments` that charge buyers: the processor, and the runner of the attempts.
struct ChargingParts {
    let processor: any PaymentProcessor
    /// The services that the processor needs.
    let services: [any Service]
    /// The default payment method of a resumption.
    let defaultMethod: PaymentMethod?
    /// The dependencies shared by the parts that accept, charge and settle payments.
    let context: PaymentsContext
    /// Carries out attempts and commits their outcomes.
    let runner: ChargeRunner
    /// Offers committed attempts to the runner, and signals the relay that events were appended.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    /// The pages of the sandbox's processor; a store in production has none.
    private let sandboxRoutes: SandboxRoutes?

    /// Makes the parts.
    ///
    /// The sandbox processor exists only in the sandbox. Production has no processor yet, and every
    /// start logs a warning about it.
    init(_ settings: PaymentsSettings, on frame: ServiceFrame) {
        switch settings.environment {
        case .sandbox:
            let store = SandboxStore(url: settings.sandboxDatabaseURL, logger: frame.logger)
            processor = SandboxProcessor(
                store: store,
                slowness: settings.sandboxSlowness,
                logger: frame.logger
            )
            services = [store.client]
            sandboxRoutes = SandboxRoutes(store: store)
            defaultMethod = SandboxPaymentMethod.success.method
        case .production:
            frame.logger.warning(
                """
                There is no payment processor in production yet: every payment is refused with \
                payment_method_not_available, and nothing can be charged
                """
            )
            processor = UnconfiguredProcessor()
            services = []
            sandboxRoutes = nil
            defaultMethod = nil
        }
        context = PaymentsContext(
            client: frame.client,
            policy: settings.policy,
            owner: LeaseOwner(time: MachineTime.now()),
            environment: settings.environment,
            subscriptions: SubscriptionStateMachine(policy: settings.subscriptions),
            spans: frame.spans,
            logger: frame.logger,
            now: frame.storeNow,
            machineNow: frame.machineNow
        )
        let wakeRelay = frame.wakeRelay
        let runner = ChargeRunner(
            processor: processor,
            context: context,
            limits: settings.limits,
            didCommit: wakeRelay
        )
        self.runner = runner
        didCommit = { attempts in
            runner.offer(attempts)
            wakeRelay()
        }
    }

    /// Tells buyers on which page to act.
    var actions: BuyerActionHandler {
        BuyerActionHandler(client: context.client, processor: processor, runner: runner)
    }

    /// Adds the routes that this store has.
    func addRoutes(to router: StoreRouter) { sandboxRoutes?.add(to: router) }
}
