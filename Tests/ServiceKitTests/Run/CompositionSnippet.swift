import ClockAndIDs
import EventTypes
import Hummingbird
import Logging
import Postgres
import ServiceKit
import ServiceLifecycle
import StoreAPI

/// The Swift code of `ServiceKit.md`, compiled; `SnippetTests` in TidyTests compares the two.
private struct CompositionSnippet {
    struct Submission {
        let account: AuthenticatedAccount
        let payment: PaymentRequest
    }

    struct Store {
        func add(_ requests: [Submission]) async throws -> [Transaction] { [] }
    }

    let store = Store()
    let client: PostgresClient

    func composePayments(reader: inout SettingsReader, logger: Logger) throws -> Composition {
        let common = CommonSettings(&reader, service: .payments, defaultPort: 8082)
        try reader.check()

        let authenticator = try Authenticator(
            appKeysDirectory: common.appKeysDirectory,
            adminKeysDirectory: common.adminKeysDirectory,
            now: MachineTime.now
        )
        let batcher = RequestBatcher<Submission, Transaction>(
            name: "payments",
            waitMax: common.databaseWaitMax,
            logger: logger
        ) { requests in
            try await store.add(requests)
        }
        let probe = PostgresProbe(of: client, every: common.databaseProbeInterval)
        let readiness = [ReadinessCheck("postgres", failure: { probe.problem })]
        let router = storeRouter(
            authenticator: authenticator,
            readiness: readiness,
            databaseWaitMax: common.databaseWaitMax,
            logger: logger
        )
        router.account.post(RouterPath(Routes.payments)) { request, context in
            let account = try context.requireAccount()
            let payment = try await decodeBody(PaymentRequest.self, from: request)
            let submission = Submission(account: account, payment: payment)
            return try jsonResponse(try await batcher.submit(submission), status: .created)
        }
        let server = StoreHTTPServer(router: router, settings: common.http, logger: logger)
        return Composition(services: [client, probe, batcher, server], readiness: readiness)
    }
}
