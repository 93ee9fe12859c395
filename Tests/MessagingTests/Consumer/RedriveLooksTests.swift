import Testing

@testable import Messaging

/// The times at which a consumer looks for dead letters to redrive.
@Suite struct RedriveLooksTests {
    private let start = ContinuousClock.now

    @Test func theFirstLookIsAtOnce() {
        var looks = RedriveLooks(at: start)
        #expect(looks.areDue(at: start) == true)
        #expect(looks.areDue(at: start + .milliseconds(500)) == false)
    }

    @Test func lettersThatWaitAreLookedForEverySecond() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: true, at: start)
        #expect(looks.areDue(at: start + .milliseconds(999)) == false)
        #expect(looks.areDue(at: start + .seconds(1)) == true)
    }

    @Test func withoutLettersLooksAreRare() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: false, at: start)
        #expect(looks.areDue(at: start + .milliseconds(4_999)) == false)
        #expect(looks.areDue(at: start + .seconds(5)) == true)
    }

    /// An event that this batch could not apply is redriven a second later.
    @Test func aBatchBringsTheNextLookForward() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: false, at: start)
        looks.applies(at: start + .milliseconds(200))
        #expect(looks.areDue(at: start + .milliseconds(1_199)) == false)
        #expect(looks.areDue(at: start + .milliseconds(1_200)) == true)
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
        #expect(looks.areDue(at: start + .seconds(1)) == true)
    }

    /// It is repeated soon, as it says nothing.
    @Test func aLookThatFailsIsRepeated() {
        var looks = RedriveLooks(at: start)
        looks.looked(lettersWait: false, at: start)
        #expect(looks.areDue(at: start + .seconds(5)) == true)
        #expect(looks.areDue(at: start + .seconds(6)) == true)
    }
}
