import EventTypes
import Logging
import Testing

@testable import ServiceKit

@Suite struct StoreEnvironmentWatchTests {
    private func watch(_ environment: StoreEnvironment) -> StoreEnvironmentWatch {
        StoreEnvironmentWatch(
            service: .receipts,
            environment: environment,
            peer: .payments,
            at: "http://127.0.0.1:1/",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    @Test func aServiceThatSaysNothingIsNoDisagreement() async {
        #expect(watch(.production).disagreement == nil)
        #expect(await [watch(.sandbox).check].failing() == [])
    }

    @Test func aDisagreementNamesBothServicesAndSettings() async {
        let watch = watch(.production)
        watch.note("Sandbox")
        let expected =
            "environment (receipts works with STORE_ENVIRONMENT=Production, and payments with "
            + "STORE_ENVIRONMENT=Sandbox; set both alike and restart the one that was wrong)"
        #expect(await [watch.check].failing() == [expected])
    }

    @Test func aServiceThatAgreesIsAskedLessOften() {
        let watch = watch(.production)
        #expect(watch.pause(isAnswered: false) == .seconds(2))
        watch.note("Production")
        #expect(watch.pause(isAnswered: true) == .seconds(30))
        #expect(watch.pause(isAnswered: false) == .seconds(2), "it does not answer now")
        watch.note("Sandbox")
        #expect(watch.pause(isAnswered: true) == .seconds(2))
    }

    @Test func aDisagreementEndsWhenBothAreSetAlike() {
        let watch = watch(.production)
        watch.note("Sandbox")
        #expect(watch.disagreement != nil)
        watch.note("Production")
        #expect(watch.disagreement == nil)
    }

    /// Only another process, with another setting, can apply the event.
    @Test func aForeignEventIsNotForgottenWhenThePeerChanges() {
        let watch = watch(.production)
        watch.noteForeignEvent(of: "Sandbox")
        watch.note("Production")
        #expect(watch.disagreement?.contains("they wait until both are set alike") == true)
    }
}
