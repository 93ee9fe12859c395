import EventTypes
import ServiceKit
import StoreTracing
import TestSupport
import Testing

@testable import Payments

/// The bound for unknown codes from an address.
@Suite(.timeLimit(.minutes(10))) struct AddressTriesTests {
    private let start = MachineTime(millisecondsSinceEpoch: 1_800_000_000_000)

    @Test func anAddressHasSoManyTriesInAnHour() {
        let tries = AddressTries(triesMax: 2)
        #expect(tries.take("192.0.2.1", at: start) && tries.take("192.0.2.1", at: start))
        #expect(!tries.take("192.0.2.1", at: start))
        #expect(tries.take("192.0.2.2", at: start))
        let later = start.advanced(by: AddressTries.window)
        #expect(!tries.take("192.0.2.1", at: later.advanced(by: .milliseconds(-1))))
        #expect(tries.take("192.0.2.1", at: later) && tries.take("192.0.2.1", at: later))
        #expect(!tries.take("192.0.2.1", at: later))
    }

    /// The database's clock was days ahead for a moment.
    @Test func aClockThatIsRightAgainKeepsNobodyOut() {
        let tries = AddressTries(triesMax: 1)
        #expect(tries.take("192.0.2.1", at: start.advanced(by: .seconds(3 * 86_400))))
        #expect(tries.take("192.0.2.1", at: start) && !tries.take("192.0.2.1", at: start))
        // Times that are read at once may be taken in another order, and begin no window.
        #expect(!tries.take("192.0.2.1", at: start.advanced(by: .seconds(-1))))
    }

    @Test func whatIsGivenBackIsNoTry() {
        let tries = AddressTries(triesMax: 1)
        for _ in 0..<3 {
            #expect(tries.take("192.0.2.1", at: start))
            tries.giveBack("192.0.2.1")
        }
        tries.giveBack("192.0.2.1")
        #expect(tries.take("192.0.2.1", at: start) && !tries.take("192.0.2.1", at: start))
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("203.0.113.9, 192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2"),
        ("2001:DB8:1:2::9", "2001:db8:1:2"), ("2001:db8::1", "2001:db8:0:0"),
        ("10.0.0.1, 172.32.0.1", "172.32.0.1"), ("172.15.0.1", "172.15.0.1"),
        ("100.128.0.1", "100.128.0.1"), ("192.169.0.1", "192.169.0.1"),
    ])
    func theNearestProxyNamesTheNetwork(header: String, network: String) {
        #expect(AddressTries.address(in: header) == network)
    }

    @Test(arguments: ["", ",", "unknown", "192.0.2", "192.0.2.1:80", "_hidden", "192.0.2.1, x"])
    func whatIsNoAddressIsNotCounted(header: String) {
        #expect(AddressTries.address(in: header) == nil)
    }

    /// Behind such an address is a proxy, or Docker's gateway, and everybody would share its tries.
    @Test(arguments: [
        "10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.1.1", "100.64.0.1", "169.254.1.1",
        "127.0.0.1", "::1", "::ffff:10.0.0.1", "fd00:1::1", "fe80::1", "192.0.2.1, 10.0.0.1",
    ])
    func anAddressOfAPrivateNetworkIsNotCounted(header: String) {
        #expect(AddressTries.address(in: header) == nil)
    }

    /// Many accounts at one address share its tries, and each has its own besides.
    @Test func anAddressIsBoundedWhateverAccountsAreUsed() async throws {
        try await withCodes { store, _ in
            let desk = CodeDesk(store, triesOfAddressMax: 4)
            let code = try await desk.codes()[0]
            func type(
                _ code: String,
                as account: AuthenticatedAccount,
                from address: String?
            ) async throws -> RedemptionHandler.Reply {
                try await desk.redemptions.redeem(
                    code,
                    try await desk.ticket(of: account),
                    confirmed: nil,
                    from: address,
                    trace: .begin()
                )
            }
            // A code that exists is no try.
            for _ in 0..<5 { _ = try await type(code, as: alice, from: "192.0.2.1") }
            for account in [alice, bob, alice, bob] {
                let reply = try await type("WRONGCODE", as: account, from: "192.0.2.1")
                guard case .refused(.codeUnknown) = reply else { return #expect(Bool(false)) }
            }
            let refused = try await type(code, as: bob, from: "192.0.2.1")
            guard case .tooManyTriesFromAddress = refused else { return #expect(Bool(false)) }
            for address in ["192.0.2.2", nil] {
                guard case .offered = try await type(code, as: bob, from: address) else {
                    return #expect(Bool(false))
                }
            }
            store.clock.advance(by: AddressTries.window)
            guard case .offered = try await type(code, as: bob, from: "192.0.2.1") else {
                return #expect(Bool(false))
            }
        }
    }
}
