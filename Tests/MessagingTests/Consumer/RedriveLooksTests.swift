import Testing

@testable import Messaging

/// The times at which a consumer looks for dead letters to redrive.
@Suite struct RedriveLooksTests {
    private let start = ContinuousClock.now

    @Test func theFirstLookIsAtOnce() {
        var looks = RedriveLooks(at: start)
        #expect(looks.areDue(at: start))
        #expect(!looks.areDue(at: start + .milliseconds(500)))
    }

    @Test func lettersThatWaitAreLookedForEverySecond() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: true, at: start)
        #expect(!looks.areDue(at: start + .milliseconds(999)))
        #expect(looks.areDue(at: start + .seconds(1)))
    }

    @Test func withoutLettersLooksAreRare() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: false, at: start)
        #expect(!looks.areDue(at: start + .milliseconds(4_999)))
        #expect(looks.areDue(at: start + .seconds(5)))
    }

    /// What this batch could not apply may be redriven a second later.
    @Test func aBatchBringsTheNextLookForward() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: false, at: start)
        looks.applies(at: start + .milliseconds(200))
        #expect(!looks.areDue(at: start + .milliseconds(1_199)))
        #expect(looks.areDue(at: start + .milliseconds(1_200)))
    }

    @Test func aWaitEndsWhenALookIsDue() {
        var looks = RedriveLooks(at: start)
        #expect(looks.wait(atMost: .seconds(2), from: start + .seconds(1)) == .zero)
        looks.looked(lettersWait: true, at: start)
        #expect(looks.wait(atMost: .seconds(2), from: start) == .milliseconds(1_001))
        #expect(looks.wait(atMost: .milliseconds(500), from: start) == .milliseconds(500))
    }

    @Test func batchesDoNotPutALookOff() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: true, at: start)
        looks.applies(at: start + .milliseconds(900))
        #expect(looks.areDue(at: start + .seconds(1)))
    }

    /// It is repeated soon, as it says nothing.
    @Test func aLookThatFailsIsRepeated() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: false, at: start)
        #expect(looks.areDue(at: start + .seconds(5)))
        #expect(looks.areDue(at: start + .seconds(6)))
    }
}
