import EventTypes
import Logging
import ServiceFoundation
import ServiceKit
import ServiceLifecycle
import StoreAPI
import Stripe

/// The parts of `payments` that take money with Stripe.
struct StripeParts {
    let accounts: StripeAccounts
    let processor: RoutedStripe
    /// Lets buyers save payment methods.
    let methods: PaymentMethodHandler
    /// Closes the connections to Stripe at the end.
    let connections: StripeConnections

    private let settings: StripeSettings
    private let environment: StoreEnvironment
    private let webhookSecrets: [ProcessorAccountName: SecretFile<StripeSignatureCheck>]

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
        accounts = StripeAccounts(
            first: try Self.account(settings.first, settings, in: environment, on: frame),
            others: try settings.others.map {
                try Self.account($0, settings, in: environment, on: frame)
            },
            apps: settings.apps
        )
        processor = RoutedStripe(
            accounts: accounts,
            homes: SavedMethodReader(client: frame.client).homes(of:),
            buyers: SavedMethodReader(client: frame.client).buyers(of:),
            logger: frame.logger
        )
        methods = PaymentMethodHandler(
            client: frame.client,
            accounts: accounts,
            now: frame.machineNow
        )
        self.settings = settings
        self.environment = environment
        var secrets: [ProcessorAccountName: SecretFile<StripeSignatureCheck>] = [:]
        for account in settings.accounts { secrets[account.name] = try account.webhookCheck() }
        webhookSecrets = secrets
        connections = StripeConnections(clients: accounts.all.map(\.client))
    }

    /// Makes the way to an account.
    private static func account(
        _ account: StripeAccountSettings,
        _ settings: StripeSettings,
        in environment: StoreEnvironment,
        on frame: ServiceFrame
    ) throws -> StripeAccount {
        let key = try account.key(in: environment)
        let saved = SavedMethodReader(client: frame.client)
        let processor = StripeProcessor(
            client: StripeClient(settings.client, logger: frame.logger) { key.current },
            gate: StripeGate(
                to: account.name,
                rate: settings.callsPerSecond,
                endpointRate: settings.endpointCallsPerSecond,
                logger: frame.logger
            ),
            customers: saved.customers(of:),
            unusable: saved.unusable(of:),
            returnURLs: settings.returnURLs,
            now: frame.machineNow,
            logger: frame.logger
        )
        return StripeAccount(name: account.name, processor: processor)
    }

    /// The warnings while Stripe does not answer for an account or does not take its key, if the account of
    /// a card is in no setting, and while renewals wait because of charges that the books have lost.
    var checks: [ReadinessCheck] {
        accounts.all.map { account in
            ReadinessCheck.warning("processor") { [gate = account.gate] in gate.problem }
        } + [
            ReadinessCheck.warning("processor accounts") { [missing = processor.missing] in
                missing.problem
            },
            ReadinessCheck.warning("lost charges") { [strays = processor.strays] in
                strays.problem()
            },
        ]
    }

    /// Looks once an hour for accounts that the store has used and that no setting names any more.
    func missingAccounts(on frame: ServiceFrame) -> WorkRunner {
        WorkRunner(
            client: frame.client,
            rest: .seconds(3600),
            complaint: "The accounts at Stripe could not be compared with the settings",
            logger: frame.logger
        ) { [saved = SavedMethodReader(client: frame.client), accounts, processor] in
            for name in try await saved.usedAccounts() where accounts.named(name) == nil {
                processor.missing.note(name)
            }
        }
    }

    /// Takes in what each account at Stripe tells by itself.
    ///
    /// - Parameters:
    ///   - methods: Follows what becomes of saved cards.
    ///   - runner: Settles what has become of attempts.
    ///   - disputes: Settles disputes.
    ///   - frame: The parts that every service has.
    /// - Returns: The handlers, one for each account, the first account's in front.
    func events(
        of methods: PaymentMethodHandler,
        settledBy runner: ChargeRunner,
        _ disputes: DisputeHandler,
        on frame: ServiceFrame
    ) -> [ProcessorEventHandler] {
        accounts.all.map { account in
            ProcessorEventHandler(
                client: frame.client,
                account: account,
                methods: methods,
                runner: runner,
                disputes: disputes,
                environment: environment,
                now: frame.machineNow,
                logger: frame.logger
            )
        }
    }

    /// Applies what an account tells, and reads what has moved there.
    func eventRunner(_ handler: ProcessorEventHandler, on frame: ServiceFrame)
        -> ProcessorEventRunner
    {
        ProcessorEventRunner(
            handler: handler,
            movements: MovementHandler(
                client: frame.client,
                account: handler.account,
                ids: .random,
                now: frame.machineNow,
                storeNow: frame.storeNow,
                logger: frame.logger
            ),
            listPause: settings.eventsPause,
            movementsPause: settings.movementsPause
        )
    }

    /// The parts of the routes of webhooks, by the accounts.
    func webhooks(
        _ handlers: [ProcessorEventHandler]
    ) -> [ProcessorAccountName: StripeWebhookRoutes.Parts] {
        var parts: [ProcessorAccountName: StripeWebhookRoutes.Parts] = [:]
        for handler in handlers {
            guard let secrets = webhookSecrets[handler.account.name] else { continue }
            parts[handler.account.name] = StripeWebhookRoutes.Parts(
                handler: handler,
                check: { secrets.current }
            )
        }
        return parts
    }
}

/// Closes the connections to Stripe once nobody uses them any more.
struct StripeConnections: Service {
    let clients: [StripeClient]

    /// Waits for the end.
    func run() async throws {
        // It throws only if it is cancelled, and then the connections are closed, too.
        try? await gracefulShutdown()
        for client in clients { await client.shutDown() }
    }
}
