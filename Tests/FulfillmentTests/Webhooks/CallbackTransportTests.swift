import Callbacks
import Foundation
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

/// A resolver with fixed addresses.
///
/// Any other name hangs until the end of the test.
private final class TestNames: NameResolver {
    private let names: [String: [String]]
    private let state = Mutex<(asked: [String], hanging: [CheckedContinuation<Void, Never>])>(
        ([], [])
    )

    init(_ names: [String: [String]]) { self.names = names }

    var asked: [String] { state.withLock { $0.asked } }

    func addresses(of name: String) async throws -> [String] {
        state.withLock { $0.asked.append(name) }
        if let addresses = names[name] {
            guard !addresses.isEmpty else { throw NameResolutionError.unknown("as the test says") }
            return addresses
        }
        await withCheckedContinuation { waiter in state.withLock { $0.hanging.append(waiter) } }
        throw NameResolutionError.unknown("the test is over")
    }

    func release() {
        for waiter in state.withLock({ $0.hanging }) { waiter.resume() }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct CallbackTransportTests {
    private func withTransport(
        _ names: [String: [String]],
        timeout: Duration = .seconds(60),
        _ body: (CallbackTransport, TestNames, WebhookReceiver) async throws -> Void
    ) async throws {
        let resolver = TestNames(names)
        let transport = CallbackTransport(
            timeout: timeout,
            resolver: resolver,
            addressLifetime: .seconds(3_600)
        )
        let merchant = try await WebhookReceiver.start()
        try await body(transport, resolver, merchant)
        resolver.release()
        try await transport.shutDown()
        await merchant.stop()
    }

    private func address(_ name: String, of merchant: WebhookReceiver) -> String {
        merchant.url.replacing("127.0.0.1", with: name)
    }

    @Test func namesWhoseServerDoesNotAnswerHoldUpNoOtherName() async throws {
        try await withTransport(["quick.example": ["127.0.0.1"]]) { transport, names, merchant in
            await withThrowingTaskGroup(of: CallbackResult.self) { group in
                for number in 1...40 {
                    group.addTask {
                        try await transport.post([], to: "http://slow-\(number).example/")
                    }
                }
                _ = try? await eventually("all to be looked up") {
                    names.asked.count == 40 ? true : nil
                }
                let url = address("quick.example", of: merchant)
                let result = try? await transport.post([], to: url)
                #expect(result == .success)
                #expect(merchant.deliveries.count == 1)
                group.cancelAll()
            }
        }
    }

    @Test func aNameThatIsNotResolvedInTimeEndsItsTryAndNoOther() async throws {
        try await withTransport([:], timeout: .milliseconds(100)) { transport, names, _ in
            for _ in 1...3 {
                let result = try await transport.post([], to: "http://slow.example/")
                #expect(result == .timedOut)
            }
            #expect(names.asked == ["slow.example"], "the first look-up is still under way")
        }
    }

    @Test func aNameWithoutAnAddressIsAnIssueOfTheSocket() async throws {
        try await withTransport(["gone.example": []]) { transport, _, _ in
            let result = try await transport.post([], to: "http://gone.example/")
            #expect(result == .socketIssue)
        }
    }

    @Test func anAddressThatRefusesIsFollowedByTheNextOne() async throws {
        let addresses = ["127.0.0.2", "127.0.0.1"]
        try await withTransport(["two.example": addresses]) { transport, _, merchant in
            let url = address("two.example", of: merchant)
            let result = try await transport.post([], to: url)
            #expect(result == .success)
        }
    }

    @Test func aNameIsLookedUpOnceForManyCallsAndStaysInTheRequest() async throws {
        try await withTransport(["quick.example": ["127.0.0.1"]]) { transport, names, merchant in
            let url = address("quick.example", of: merchant)
            try await withThrowingTaskGroup(of: CallbackResult.self) { group in
                for _ in 1...20 { group.addTask { try await transport.post([], to: url) } }
                for try await result in group { #expect(result == .success) }
            }
            #expect(names.asked == ["quick.example"])
            let hosts = Set(merchant.deliveries.compactMap { $0.headers.first(name: "host") })
            #expect(
                hosts.count == 1 && hosts.first?.hasPrefix("quick.example:") == true,
                "\(hosts)"
            )
        }
    }

    @Test func theSystemsResolverKnowsThisMachineAndSaysWhatItDoesNotKnow() async throws {
        let addresses = try await SystemResolver().addresses(of: "localhost")
        #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"), "\(addresses)")
        await #expect(throws: NameResolutionError.self) {
            try await SystemResolver().addresses(of: "no name at all")
        }
    }
}
