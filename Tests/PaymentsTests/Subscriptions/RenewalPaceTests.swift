import Testing

@testable import Payments

@Suite struct RenewalPaceTests {
    @Test func buyersHaveTwoThirdsOfTheTime() {
        #expect(RenewalPace.besideBuyers.rest(after: .milliseconds(60)) == .milliseconds(120))
        #expect(RenewalPace.alone.rest(after: .milliseconds(60)) == .zero)
    }

    @Test func aProcessorThatDoesNotAnswerDoesNotStretchTheRest() {
        #expect(RenewalPace.besideBuyers.rest(after: .seconds(30)) == .seconds(1))
    }

    @Test func besideBuyersRenewalsAreBegunAnEighthAtATime() {
        #expect(RenewalPace.besideBuyers.batchSizeMax == RenewalPace.alone.batchSizeMax / 8)
    }

    @Test func theFirstChargesBeginEarly() {
        let sizes = [0, 128, 384, 896].map { RenewalPace.alone.batchSize(after: $0) }
        #expect(sizes == [128, 256, 512, 512])
        #expect([0, 500].map { RenewalPace.besideBuyers.batchSize(after: $0) } == [64, 64])
    }

    @Test func besideBuyersABatchIsChargedBeforeTheNext() {
        #expect(RenewalPace.besideBuyers.openMax == 1)
        #expect(RenewalPace.alone.openMax > RenewalPace.alone.batchSizeMax)
    }
}
