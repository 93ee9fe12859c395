import EventTypes
import Logging
import Stripe
import StripeStandIn

/// A stand-in on a real socket, and a client of it.
struct StandInUnderTest: Sendable {
    let server: StandInServer
    let client: StripeClient
    /// The address, without a slash at its end.
    let url: String
    /// The secret key of the client.
    var key = StandInUnderTest.key

    static let key = "rk_test_abcdefgh1"

    /// Runs a stand-in for as long as a test needs it.
    static func run(
        _ options: StandInOptions = StandInOptions(),
        logger: Logger = quiet,
        _ body: @escaping @Sendable (StandInUnderTest) async throws -> Void
    ) async throws {
        let server = StandInServer(options)
        let (urls, running) = AsyncStream<String>.makeStream()
        let key = try StripeKey(key, environment: .sandbox)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.run(logger: quiet) { running.yield($0) }
            }
            for await url in urls {
                let client = StripeClient(
                    settings(url, timeout: .seconds(60)),
                    logger: logger
                ) { key }
                let test = StandInUnderTest(server: server, client: client, url: url)
                do { try await body(test) } catch {
                    await client.shutDown()
                    group.cancelAll()
                    throw error
                }
                await client.shutDown()
                break
            }
            group.cancelAll()
        }
    }

    private static func settings(_ url: String, timeout: Duration) -> StripeClient.Settings {
        StripeClient.Settings(baseURL: url, connectTimeout: timeout, timeout: timeout)
    }

    /// Charges a customer by a client that waits only a short time for the answer.
    ///
    /// All other calls of a test must succeed on a busy machine, too, so they have a minute.
    ///
    /// - Returns: The failure; `nil` if the charge was answered.
    func failureOfHurriedCharge(
        _ attempt: String,
        of customer: String
    ) async throws -> StripeFailure? {
        let secret = try StripeKey(key, environment: .sandbox)
        let hurried = StripeClient(
            // A busy machine needs seconds to bring the call to the stand-in, which must happen first.
            Self.settings(url, timeout: .seconds(8)),
            logger: Self.quiet
        ) { secret }
        let test = StandInUnderTest(server: server, client: hurried, url: url, key: key)
        let result: Result<StripeFailure?, any Error>
        do {
            result = .success(
                try await failure { try await test.charge(attempt, of: customer) }
            )
        } catch {
            result = .failure(error)
        }
        await hurried.shutDown()
        return try result.get()
    }

    /// A logger that says nothing.
    static let quiet: Logger = {
        var logger = Logger(label: "quiet")
        logger.logLevel = .critical
        return logger
    }()

    /// Makes a customer.
    func customer(_ name: String = "ada") async throws -> String {
        let key = StripeIdempotencyKey(attempt: name, kind: .customer)
        return try await client.createCustomer(metadata: ["account": name], key: key).id
    }

    /// A payment of 9.99 USD.
    func request(
        _ attempt: String,
        of customer: String,
        card: String = "pm_card_visa",
        session: PaymentIntentRequest.Session = .present(returnURL: "http://127.0.0.1/back")
    ) throws -> PaymentIntentRequest {
        PaymentIntentRequest(
            amount: try ProcessorAmount(
                Money(minorUnits: 999, currency: Currency(unchecked: "USD"))
            ),
            customer: customer,
            paymentMethod: card,
            session: session,
            metadata: ["attempt": attempt]
        )
    }

    /// Charges a customer under the attempt's first key.
    func charge(
        _ attempt: String,
        of customer: String,
        card: String = "pm_card_visa",
        session: PaymentIntentRequest.Session = .present(returnURL: "http://127.0.0.1/back")
    ) async throws -> StripePaymentIntent {
        try await client.createPaymentIntent(
            try request(attempt, of: customer, card: card, session: session),
            key: StripeIdempotencyKey(attempt: attempt, kind: .charge)
        )
    }

    /// Refunds a whole payment under the attempt's first key.
    func refund(_ paid: StripePaymentIntent, _ attempt: String) async throws -> StripeRefund {
        try await client.createRefund(
            of: paid.id,
            paid.asked,
            metadata: [:],
            key: StripeIdempotencyKey(attempt: attempt, kind: .refund)
        )
    }
}

/// Returns the kind of failure with which a call ends.
func failure(_ call: () async throws -> some Any) async throws -> StripeFailure? {
    do {
        _ = try await call()
        return nil
    } catch let failure as StripeFailure {
        return failure
    }
}
