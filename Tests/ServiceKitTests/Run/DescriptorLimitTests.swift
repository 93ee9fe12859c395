import Testing

@testable import ServiceKit

@Suite struct DescriptorLimitTests {
    @Test func connectionsLeaveRoomForDatabaseBrokerAndFiles() {
        #expect(DescriptorLimit(count: 1_000_000).connections(of: 10_000) == 10_000)
        #expect(DescriptorLimit(count: 10_240).connections(of: 10_000) == 8864)
        #expect(DescriptorLimit(count: 1024).connections(of: 10_000) == 800)
        #expect(DescriptorLimit(count: 1024).connections(of: 100) == 100)
    }

    @Test func tooFewToWorkWithAreNone() {
        #expect(DescriptorLimit.least == 127)
        #expect(DescriptorLimit(count: 127).connections(of: 10_000) == 16)
        #expect(DescriptorLimit(count: 126).connections(of: 10_000) == nil)
        #expect(DescriptorLimit(count: 0).connections(of: 10_000) == nil)
    }
}
