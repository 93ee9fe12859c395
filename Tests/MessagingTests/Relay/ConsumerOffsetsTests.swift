import EventTypes
import Kafka
import Logging
import TestSupport
import Testing

@testable import Messaging

/// The consumers' offsets, as the relay reads them.
struct ConsumerOffsetsTests {
    private let partition = KafkaTopicPartition(topic: "payments.purchasing", partition: 0)

    @Test func aGroupThatMayNotBeSeenIsUnconfirmedAndLoggedOnce() async throws {
        let log = RecordedLog()
        let offsets = ConsumerOffsets(logger: log.logger)
        func committed(isHidden: Bool) async throws -> [ServiceName: [KafkaTopicPartition: Int64]] {
            try await offsets.committed(
                of: [Topics.paymentsPurchasing],
                in: [partition]
            ) { group, partitions in
                #expect(group == "fulfillment.delayed" && partitions == [partition])
                guard !isHidden else { throw KafkaError(.notAuthorized, "reading offsets") }
                return [partition: 7]
            }
        }
        #expect(try await committed(isHidden: true).isEmpty)
        #expect(try await committed(isHidden: true).isEmpty)
        #expect(log.levels == [.error])

        #expect(try await committed(isHidden: false) == [.fulfillment: [partition: 7]])
        #expect(try await committed(isHidden: true).isEmpty)
        #expect(log.levels == [.error, .error], "it is hidden again")
    }

    @Test func anyOtherErrorStopsTheRelay() async throws {
        let offsets = ConsumerOffsets(logger: RecordedLog().logger)
        await #expect(throws: KafkaError.self) {
            try await offsets.committed(of: [Topics.paymentsPurchasing], in: [partition]) { _, _ in
                throw KafkaError(.timedOut, "reading offsets")
            }
        }
    }
}
