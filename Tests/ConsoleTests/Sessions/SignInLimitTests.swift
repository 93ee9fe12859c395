import EventTypes
import Testing

@testable import Console

@Suite struct SignInLimitTests {
    private static let start = MachineTime(millisecondsSinceEpoch: 1_795_237_200_000)

    @Test func anAddressWaitsForTheNextMinuteAfterTenFailures() {
        let limit = SignInLimit()
        for _ in 1...SignInLimit.failuresMax {
            #expect(limit.mayTry("10.0.0.1", at: Self.start))
            limit.noteFailure(of: "10.0.0.1", at: Self.start)
        }
        #expect(!limit.mayTry("10.0.0.1", at: Self.start.advanced(by: .seconds(59))))
        #expect(limit.mayTry("10.0.0.2", at: Self.start))
        #expect(limit.mayTry("10.0.0.1", at: Self.start.advanced(by: .seconds(60))))
    }

    @Test func addressesBeyondTheBoundShareOneCount() {
        let limit = SignInLimit()
        for number in 0..<SignInLimit.addressesMax {
            limit.noteFailure(of: "a\(number)", at: Self.start)
        }
        for _ in 1...SignInLimit.failuresMax { limit.noteFailure(of: "new", at: Self.start) }
        #expect(!limit.mayTry("newer", at: Self.start))
        let later = Self.start.advanced(by: SignInLimit.window)
        limit.sweep(at: later)
        #expect(limit.mayTry("newer", at: later))
    }
}
