import EventTypes
import Logging
import ServiceKit
import StoreAPI
import Stripe
import StripeStandIn
import TestSupport

@testable import Payments

extension ProcessorAccountName {
    static let games = Self(rawValue: "games")
}

/// Two accounts at Stripe, each a stand-in of its own, and one database.
struct TwoAccounts: Sendable {
    /// A store with only the default account.
    let store: StripeStore
    let games: StripeAccount
    let standIn: StandInServer
    /// The address of the second stand-in.
    let url: String

    /// The apps of a store whose only app has the second account.
    static let moved = [alice.bundleID: ProcessorAccountName.games]

    /// Runs a process of a store with both accounts.
    ///
    /// - Parameters:
    ///   - apps: The accounts of apps.
    ///   - logger: Receives what the process logs; `nil` if nobody reads it.
    ///   - body: Receives the process.
    /// - Throws: The error of the body.
    func withProcess(
        apps: [BundleID: ProcessorAccountName] = TwoAccounts.moved,
        logger: Logger? = nil,
        _ body: @Sendable (StripeStore) async throws -> Void
    ) async throws {
        let process = try StripeStore(
            client: store.client,
            standIn: store.standIn,
            url: store.url,
            clock: store.clock,
            others: [games],
            apps: apps,
            logger: logger
        )
        do { try await body(process) } catch {
            await process.stripe.shutDown()
            throw error
        }
        await process.stripe.shutDown()
    }

    /// Takes in what the second account tells.
    func events(of process: StripeStore) -> ProcessorEventHandler {
        ProcessorEventHandler(
            client: process.client,
            account: games,
            methods: process.methods,
            runner: process.runner,
            disputes: DisputeHandler(context: process.runner.context, runner: process.runner),
            environment: .sandbox,
            now: process.clock.machineNow,
            logger: process.charging.logger
        )
    }

    /// Reads what moves at the second account.
    var movements: MovementHandler {
        MovementHandler(
            client: store.client,
            account: games,
            ids: .random,
            now: store.clock.machineNow,
            storeNow: store.clock.now,
            logger: store.charging.logger
        )
    }
}

/// Runs a test on a fresh database and two fresh stand-ins.
func withTwoAccounts(
    _ body: @escaping @Sendable (TwoAccounts) async throws -> Void
) async throws {
    try await withStripeStore { store in
        var options = StandInOptions()
        options.series = "games"
        let server = StandInServer(options)
        let (urls, running) = AsyncStream<String>.makeStream()
        let logger = store.charging.logger
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await server.run(logger: logger) { running.yield($0) } }
            for await url in urls {
                let games = try StripeStore.account(
                    .games,
                    client: store.client,
                    url: url,
                    clock: store.clock
                )
                let two = TwoAccounts(store: store, games: games, standIn: server, url: url)
                do { try await body(two) } catch {
                    await games.client.shutDown()
                    throw error
                }
                await games.client.shutDown()
                break
            }
        }
    }
}
