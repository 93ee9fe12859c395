import AsyncHTTPClient
import Callbacks
import Synchronization
import TestSupport
import Testing

@testable import Operator
@testable import OperatorCore

/// One name that hangs, as a stopped container's does; every other is this machine.
private final class OneNameHangs: NameResolver {
    private let hanging: String
    private let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])

    init(_ hanging: String) { self.hanging = hanging }

    var isAsked: Bool { waiters.withLock { !$0.isEmpty } }

    func addresses(of name: String) async throws -> [String] {
        guard name == hanging else { return ["127.0.0.1"] }
        await withCheckedContinuation { waiter in waiters.withLock { $0.append(waiter) } }
        throw NameResolutionError.unknown("the test is over")
    }

    func release() {
        for waiter in waiters.withLock({ $0 }) { waiter.resume() }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct StatusTests {
    @Test func aServiceWhoseNameHangsMakesNoOtherOneAway() async throws {
        let service = try await WebhookReceiver.start()
        let names = OneNameHangs("payments")
        let clients = HostClients(configuration: .singletonConfiguration, resolver: names)
        func connection(to name: String) -> StoreConnection {
            StoreConnection(
                service: name,
                baseURL: service.url.replacing("127.0.0.1", with: name),
                token: nil,
                clients: clients
            )
        }
        async let hanging = Self.problem(of: connection(to: "payments"))
        try await eventually("the name to be looked up") { names.isAsked ? true : nil }
        for name in ["catalog", "receipts", "fulfillment"] {
            #expect(try await connection(to: name).health().isReady, "\(name)")
        }
        let problem = await hanging
        #expect(problem?.code == .unavailable)
        #expect(problem?.description.contains("payments cannot be reached") == true)
        #expect(problem?.description.contains("no name server answers for its name") == true)
        names.release()
        try await clients.shutDown()
        await service.stop()
    }

    private static func problem(of connection: StoreConnection) async -> OperatorError? {
        do {
            _ = try await connection.health()
            return nil
        } catch {
            return error
        }
    }
}
