import EventTypes
import StoreAPI
import Testing

@testable import Operator

/// The store's clock in words.
@Suite struct ClockReportTests {
    private let noon = StoreTime(millisecondsSinceEpoch: 1_797_915_575_000)

    private func clock(_ mode: ClockResponse.Mode) -> ClockResponse {
        ClockResponse(now: noon, step: 4, mode: mode, status: .ready)
    }

    @Test func howTheClockRuns() {
        #expect(
            ClockReport(clock(.machines)).text
                == "\(noon), the machines' time; nobody has set the clock"
        )
        #expect(ClockReport(clock(.frozen)).text == "\(noon), frozen")
        var running = clock(.running)
        (running.rate, running.end) = ("1h=1d", noon.advanced(by: .seconds(86_400)))
        let text = ClockReport(running).text
        #expect(text.contains("running at 1h=1d until \(noon.advanced(by: .seconds(86_400)))"))
    }

    @Test func anAdvanceSaysWhatItWaitsFor() {
        var advancing = clock(.frozen)
        advancing.status = .advancing
        advancing.target = noon
        #expect(ClockReport(advancing).text.hasSuffix("On its way to \(noon)."))
        advancing.waitsFor = ["expired approvals"]
        #expect(ClockReport(advancing).text.hasSuffix("it waits for expired approvals."))
    }

    @Test func aFailedAdvanceSaysHowToGoOn() {
        var failed = clock(.frozen)
        failed.status = .failed
        (failed.target, failed.failure) = (noon, "approvals: the table is gone")
        let text = ClockReport(failed).text
        #expect(text.contains("approvals: the table is gone"))
        #expect(text.hasSuffix("counterfoil clock resume"))
    }

    @Test func anAdvanceSaysWhatWasDone() {
        var ready = clock(.frozen)
        #expect(ClockReport(ready).done == "Nothing was due.")
        ready.done = ["renewals": 47, "expired approvals": 3]
        #expect(ClockReport(ready).done == "Done: 3 expired approvals, 47 renewals.")
    }
}
