import ClockAndIDs
import EventTypes
import Logging
import ServiceFoundation
import ServiceLifecycle
import StoreAPI

/// The parts of `payments` that charge buyers: the processor, and what carries out the attempts.
struct ChargingParts {
    let processor: any PaymentProcessor
    /// What the processor itself needs to run.
    let services: [any Service]
    /// The method of a payment that names none.
    let defaultMethod: String?
    /// What everything shares that accepts, charges or settles payments.
    let context: PaymentsContext
    /// Carries out attempts, and commits their outcomes.
    let runner: ChargeRunner

    /// Makes the parts.
    ///
    /// The sandbox processor exists in the sandbox alone. In production there is none yet, which is
    /// said at every start.
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
            defaultMethod = SandboxPaymentMethod.success.rawValue
        case .production:
            frame.logger.warning(
                """
                There is no payment processor in production yet: every payment is refused with \
                payment_method_not_available, and nothing can be charged
                """
            )
            processor = UnconfiguredProcessor()
            services = []
            defaultMethod = nil
        }
        context = PaymentsContext(
            client: frame.client,
            policy: settings.policy,
            owner: LeaseOwner(time: Timestamp.wallClock()),
            environment: settings.environment,
            spans: frame.spans,
            logger: frame.logger,
            now: frame.now
        )
        runner = ChargeRunner(
            processor: processor,
            context: context,
            limits: settings.limits,
            didCommit: frame.wakeRelay
        )
    }
}
