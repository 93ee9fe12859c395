import ClockAndIDs
import EventTypes
import Logging
import Messaging
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
    /// The warnings about the processor.
    let readiness: [ReadinessCheck]
    /// The default payment method of a resumption.
    let defaultMethod: PaymentMethod?
    /// The dependencies shared by the parts that accept, charge and settle payments.
    let context: PaymentsContext
    /// Carries out attempts and commits their outcomes.
    let runner: ChargeRunner
    /// Charges for the next periods of subscriptions.
    let renewals: RenewalHandler
    /// Offers committed attempts to the runner, and signals the relay that events were appended.
    let didCommit: @Sendable ([ProcessorAttempt]) -> Void

    /// The disputes at the sandbox's processor; no other store has them.
    let sandboxDisputes: SandboxDisputeHandler?

    /// The pages of the sandbox's processor; no other store has them.
    private let sandboxRoutes: SandboxRoutes?
    private let methodRoutes: PaymentMethodRoutes
    private let webhookRoutes: StripeWebhookRoutes

    /// The processor with what it brings along.
    private struct Chosen {
        let processor: any PaymentProcessor
        var services: [any Service] = []
        var sandboxRoutes: SandboxRoutes?
        var defaultMethod: PaymentMethod?
        var stripe: StripeParts?
    }

    /// Chooses the processor.
    ///
    /// The sandbox's own exists only in the sandbox. Production without Stripe has none, and every
    /// start logs a warning about it.
    private static func choose(
        _ settings: PaymentsSettings,
        on frame: ServiceFrame
    ) throws -> Chosen {
        if let stripe = settings.stripe {
            let parts = try StripeParts(stripe, in: settings.environment, on: frame)
            return Chosen(
                processor: parts.processor,
                services: [parts.connections],
                stripe: parts
            )
        }
        guard settings.environment == .sandbox else {
            frame.logger.warning(
                """
                No payment processor is configured: every payment is refused with \
                payment_method_not_available, and nothing can be charged
                """
            )
            return Chosen(processor: UnconfiguredProcessor())
        }
        let store = SandboxStore(url: settings.sandboxDatabaseURL, logger: frame.logger)
        return Chosen(
            processor: SandboxProcessor(
                store: store,
                slowness: settings.sandboxSlowness,
                logger: frame.logger
            ),
            services: [store.client],
            sandboxRoutes: SandboxRoutes(store: store),
            defaultMethod: SandboxPaymentMethod.success.method
        )
    }

    /// Makes the parts.
    ///
    /// - Parameters:
    ///   - settings: The settings.
    ///   - products: The projection of the catalog.
    ///   - frame: The parts that every service has.
    /// - Throws: `SecretFileError` if a file that the settings name is of no use.
    init(_ settings: PaymentsSettings, products: ProductStore, on frame: ServiceFrame) throws {
        let chosen = try Self.choose(settings, on: frame)
        processor = chosen.processor
        readiness = chosen.stripe?.checks ?? []
        sandboxRoutes = chosen.sandboxRoutes
        defaultMethod = chosen.defaultMethod
        context = PaymentsContext(
            client: frame.client,
            policy: settings.policy,
            owner: LeaseOwner(time: MachineTime.now()),
            environment: settings.environment,
            simulatesCharges: settings.stripe == nil,
            leavesRefundedConsumables: settings.leavesRefundedConsumables,
            subscriptions: SubscriptionStateMachine(policy: settings.subscriptions),
            spans: frame.spans,
            logger: frame.logger,
            now: frame.storeNow,
            machineNow: frame.machineNow,
            followClock: { [clock = frame.clock] in clock.follow($0.clock, step: $0.step) }
        )
        let wakeRelay = frame.wakeRelay
        let runner = ChargeRunner(
            processor: processor,
            context: context,
            limits: settings.limits,
            lookInterval: WorkLook.patience,
            didCommit: wakeRelay
        )
        self.runner = runner
        let disputes = DisputeHandler(context: context, runner: runner)
        sandboxDisputes = chosen.sandboxRoutes.map {
            SandboxDisputeHandler(
                books: SandboxDisputeStore(client: $0.store.client),
                disputes: disputes
            )
        }
        let didCommit: @Sendable ([ProcessorAttempt]) -> Void = { attempts in
            runner.offer(attempts)
            wakeRelay()
        }
        self.didCommit = didCommit
        let renewals = RenewalHandler(
            context: context,
            products: products,
            tax: settings.tax,
            jumps: settings.environment == .production
                ? ClockJumpGuard(logger: frame.logger) : nil,
            didCommit: didCommit
        )
        self.renewals = renewals
        var methods = chosen.stripe?.methods
        methods?.dunning = DunningHandler(renewals: renewals) { await runner.end($0) }
        methodRoutes = PaymentMethodRoutes(methods: methods)
        var services = chosen.services
        var webhooks: [ProcessorAccountName: StripeWebhookRoutes.Parts] = [:]
        if let stripe = chosen.stripe, let methods {
            let events = stripe.events(of: methods, settledBy: runner, disputes, on: frame)
            for handler in events { services.append(stripe.eventRunner(handler, on: frame)) }
            services.append(Self.priceWarnings(context))
            services.append(stripe.missingAccounts(on: frame))
            webhooks = stripe.webhooks(events)
        }
        self.services = services
        webhookRoutes = StripeWebhookRoutes(parts: webhooks)
    }

    /// Warns of prices that Stripe cannot charge, at the start and once a day.
    private static func priceWarnings(_ context: PaymentsContext) -> WorkRunner {
        let prices = ChargeablePriceHandler(
            client: context.client,
            now: context.now,
            logger: context.logger
        )
        return WorkRunner(
            client: context.client,
            rest: .seconds(86_400),
            complaint: "The catalog's prices could not be compared with what Stripe charges",
            logger: context.logger
        ) {
            try await prices.warn()
        }
    }

    /// Tells buyers on which page to act.
    var actions: BuyerActionHandler {
        BuyerActionHandler(client: context.client, processor: processor, runner: runner)
    }

    /// Adds the routes that this store has.
    func addRoutes(to router: StoreRouter) {
        sandboxRoutes?.add(to: router)
        methodRoutes.add(to: router)
        webhookRoutes.add(to: router)
    }
}
