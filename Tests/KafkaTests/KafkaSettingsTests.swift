import Logging
import Testing

@testable import Kafka

@Suite struct KafkaSettingsTests {
    private static let name = "fetch.wait.max.ms"

    private func settings(_ wait: String?) -> KafkaSettings {
        KafkaSettings(
            bootstrapServers: "broker:9092",
            clientID: "test",
            properties: wait.map { [Self.name: $0, "acks": "all"] } ?? [:]
        )
    }

    @Test func aConsumerInNoHurryLengthensItsFetches() {
        let patient = settings("25").waiting(atLeast: .milliseconds(400))
        #expect(patient.properties == [Self.name: "400", "acks": "all"])
        #expect(patient.bootstrapServers == "broker:9092")
        #expect(patient.clientID == "test")
        #expect(settings("25").fetchWait == .milliseconds(25))
        #expect(patient.fetchWait == .milliseconds(400))
    }

    @Test func aFetchThatWaitsLongerAlreadyIsNotShortened() {
        #expect(settings("900").waiting(atLeast: .milliseconds(400)).properties[Self.name] == "900")
    }

    @Test func aHandleThatNeedNotFindTopicsAsksForThemLessOften() {
        let name = "topic.metadata.refresh.interval.ms"
        let slow = settings("25").refreshingTopics(every: .seconds(10))
        #expect(slow.properties == [Self.name: "25", "acks": "all", name: "10000"])
        #expect(slow.clientID == "test")
        let given = KafkaSettings(
            bootstrapServers: "broker:9092",
            clientID: "test",
            properties: [name: "500"]
        )
        #expect(given.refreshingTopics(every: .seconds(10)).properties == [name: "500"])
    }

    @Test func withoutASettingAFetchWaitsAsLongAsTheLibraryDoes() {
        #expect(settings(nil).waiting(atLeast: .milliseconds(400)).properties[Self.name] == "500")
    }

    @Test(arguments: [nil, "5000000"] as [String?])
    func aFetchHasRoomForTheLargestMessage(_ messageMax: String?) throws {
        let settings = KafkaSettings(
            bootstrapServers: "127.0.0.1:1",
            clientID: "test",
            properties: messageMax.map { ["message.max.bytes": $0] } ?? [:]
        )
        #expect(settings.fetchBytesMax == (messageMax == nil ? 1_048_576 : 5_000_000))
        // librdkafka refuses less.
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        _ = try RDKafkaConsumer(settings: settings, group: "g", logger: logger)
    }
}
