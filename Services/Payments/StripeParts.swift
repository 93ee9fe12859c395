import EventTypes
import Logging
import ServiceFoundation
import ServiceKit
import ServiceLifecycle
import StoreAPI
import Stripe

/// The parts of `payments` that take money with Stripe.
struct StripeParts {
    let processor: StripeProcessor
    /// Lets buyers save payment methods.
    let methods: PaymentMethodHandler
    /// Closes the connections to Stripe at the end.
    let connections: StripeConnections

    private let settings: StripeSettings
    private let environment: StoreEnvironment
    private let webhookSecrets: SecretFile<StripeSignatureCheck>

    /// Makes the parts.
    ///
    /// - Parameters:
    ///   - settings: The settings of Stripe.
    ///   - environment: The environment of the store.
    ///   - frame: The parts that every service has.
    /// - Throws: `SecretFileError` if a file of the settings is of no use.
    init(
        _ settings: StripeSettings,
        in environment: StoreEnvironment,
        on frame: ServiceFrame
    ) throws {
        let key = try settings.key(in: environment)
        let gate = StripeGate(
            rate: settings.callsPerSecond,
            endpointRate: settings.endpointCallsPerSecond,
            logger: frame.logger
        )
        let client = StripeClient(settings.client, logger: frame.logger) { key.current }
        methods = PaymentMethodHandler(
            client: frame.client,
            stripe: client,
            gate: gate,
            now: frame.machineNow
        )
        self.settings = settings
        self.environment = environment
        webhookSecrets = try settings.webhookCheck()
        connections = StripeConnections(client: client)
        processor = StripeProcessor(
            client: client,
            gate: gate,
            customers: methods.customers(of:),
            unusable: methods.unusable(of:),
            returnURL: settings.returnURL,
            now: frame.machineNow,
            logger: frame.logger
        )
    }

    /// Warns while Stripe does not answer, or does not take the store's key.
    var check: ReadinessCheck {
        .warning("processor") { [gate = processor.gate] in gate.problem }
    }

    /// Takes in what Stripe tells by itself.
    ///
    /// - Parameters:
    ///   - methods: Follows what becomes of saved cards.
    ///   - runner: Settles what has become of attempts.
    ///   - disputes: Settles disputes.
    ///   - frame: The parts that every service has.
    /// - Returns: The handler.
    func events(
        of methods: PaymentMethodHandler,
        settledBy runner: ChargeRunner,
        _ disputes: DisputeHandler,
        on frame: ServiceFrame
    ) -> ProcessorEventHandler {
        ProcessorEventHandler(
            client: frame.client,
            processor: processor,
            methods: methods,
            runner: runner,
            disputes: disputes,
            environment: environment,
            now: frame.machineNow,
            logger: frame.logger
        )
    }

    /// Applies what Stripe tells, and reads what has moved there.
    func eventRunner(_ handler: ProcessorEventHandler, on frame: ServiceFrame)
        -> ProcessorEventRunner
    {
        ProcessorEventRunner(
            handler: handler,
            movements: MovementHandler(
                client: frame.client,
                stripe: processor.client,
                gate: processor.gate,
                ids: .random,
                now: frame.machineNow,
                storeNow: frame.storeNow,
                logger: frame.logger
            ),
            listPause: settings.eventsPause,
            movementsPause: settings.movementsPause
        )
    }

    /// The parts of the route of webhooks.
    func webhooks(_ handler: ProcessorEventHandler) -> StripeWebhookRoutes.Parts {
        StripeWebhookRoutes.Parts(
            handler: handler,
            check: { [webhookSecrets] in webhookSecrets.current }
        )
    }
}

/// Closes the connections to Stripe once nobody uses them any more.
struct StripeConnections: Service {
    let client: StripeClient

    /// Waits for the end.
    func run() async throws {
        // It throws only if it is cancelled, and then the connections are closed, too.
        try? await gracefulShutdown()
        await client.shutDown()
    }
}
