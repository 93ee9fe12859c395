import Hummingbird
import TestSupport

/// A server of a test to which a stand-in sends its webhooks.
enum HookServer {
    /// Runs it for as long as a test needs it.
    ///
    /// - Parameters:
    ///   - router: Takes the webhooks.
    ///   - body: Receives the address, without a slash at its end.
    /// - Throws: The error of the body or of the server.
    static func run(
        _ router: Router<BasicRequestContext>,
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let port = try freePort()
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            logger: StandInUnderTest.quiet
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            try await body("http://127.0.0.1:\(port)")
            group.cancelAll()
        }
    }
}
