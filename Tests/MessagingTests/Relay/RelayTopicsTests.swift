import EventTypes
import Kafka
import Logging
import Seals
import Testing
import TestSupport

@testable import Messaging

/// The topics that a relay checks before it sends.
@Suite(.timeLimit(.minutes(10)))
struct RelayTopicsTests {
    private static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    private let letters = "fulfillment.transactions.dead-letters"

    @Test func aDeadLettersTopicIsMadeOnceAndAgainByTheNextLeader() async throws {
        try await withTestBroker { broker in
            let admin = try KafkaAdmin(settings: broker.settings(), logger: Self.quiet)
            let topics = RelayTopics(
                [Topics.fulfillmentTransactions],
                TopicSettings(partitions: 3, replicationFactor: 1),
                Self.quiet
            )
            func partitions(are count: Int?) async throws {
                try await eventually("\(count ?? 0) partitions of \(letters)") {
                    try await admin.partitions(of: letters) == count ? true : nil
                }
            }
            let records = [
                KafkaRecord(topic: letters, key: nil, value: []),
                KafkaRecord(topic: Topics.fulfillmentTransactions.name, key: nil, value: []),
            ]
            try await topics.makeDeadLetters(of: records, admin)
            try await partitions(are: 3)
            #expect(try await topics.missing(admin) == [Topics.fulfillmentTransactions])

            try await admin.deleteTopics([letters])
            try await partitions(are: nil)
            try await topics.makeDeadLetters(of: records, admin)
            #expect(
                try await admin.partitions(of: letters) == nil,
                "it is not asked for each batch"
            )
            topics.forgetDeadLetters()
            try await topics.makeDeadLetters(of: records, admin)
            try await partitions(are: 3)
            await admin.close()
        }
    }

    @Test func whatIsInTheLogAloneIsNotPublished() {
        func row(_ topic: String) -> OutboxRow {
            OutboxRow(
                place: LogPlace(xid: 1, position: 1),
                event: OutboxEvent(
                    id: EventID(bytes: SIMD16(repeating: 1)),
                    type: .transactionPurchasing,
                    topicName: topic,
                    key: "ada",
                    subject: "1",
                    time: StoreTime(millisecondsSinceEpoch: 1),
                    traceparent: nil,
                    data: Array("{}".utf8)
                )
            )
        }
        let rows = [Topics.paymentsPurchasing.name, Topics.logOnly].map(row)
        let topics = RelayTopics.published(rows).map(\.event.topic)
        #expect(topics == [Topics.paymentsPurchasing.name])
    }

    /// The relay asks so if a new log has events of no topic of the service yet.
    @Test func theEndsOfNoPartitionsAreKnownWithoutTheBroker() async throws {
        let settings = KafkaSettings(bootstrapServers: "127.0.0.1:1", clientID: "tests")
        let admin = try KafkaAdmin(settings: settings, logger: Self.quiet)
        #expect(try await admin.endsOfKnown([]).isEmpty)
        await admin.close()
    }

    @Test func theTopicsOfAnIdleServiceAreLookedForLessOften() async throws {
        let topics = RelayTopics(
            [Topics.fulfillmentTransactions],
            TopicSettings(partitions: 3, replicationFactor: 1),
            Self.quiet
        )
        topics.isBusy = false
        #expect(topics.pause(.seconds(1)) == .seconds(5))
        let idle = try await ContinuousClock().measure { try await topics.rest(.milliseconds(20)) }
        #expect(idle >= .milliseconds(100))
        topics.isBusy = true
        #expect(topics.pause(.seconds(1)) == .seconds(1))
        let busy = try await ContinuousClock().measure { try await topics.rest(.milliseconds(20)) }
        #expect(busy >= .milliseconds(20))
    }

    @Test func aServiceThatBecomesBusyDoesNotWaitLongForALook() async throws {
        let topics = RelayTopics(
            [Topics.fulfillmentTransactions],
            TopicSettings(partitions: 3, replicationFactor: 1),
            Self.quiet
        )
        topics.isBusy = false
        let time = try await ContinuousClock().measure {
            try await topics.rest(.seconds(10)) { topics.isBusy = true }
        }
        #expect(time < .seconds(45), "An idle service rests for 50 s.")
    }

    /// A bug found by the chaos test: a relay that did not lead, and checked while the broker was
    /// empty, was never ready again.
    @Test func aFollowerSeesTheTopicsThatTheLeaderMakes() async throws {
        try await withTestBroker { broker in
            func topics() -> RelayTopics {
                RelayTopics(
                    [Topics.fulfillmentTransactions],
                    TopicSettings(partitions: 3, replicationFactor: 1),
                    Self.quiet
                )
            }
            let follower = topics()
            let looking = Task {
                await follower.look(broker.settings(), every: .milliseconds(50))
            }
            defer { looking.cancel() }
            #expect(!follower.exist)
            let admin = try KafkaAdmin(settings: broker.settings(), logger: Self.quiet)
            try await topics().makeMissing(admin)
            await admin.close()
            try await eventually("the follower to see the topics") {
                follower.exist ? true : nil
            }
        }
    }

    @Test func aTopicThatIsMissingInOneAnswerIsNotLost() async throws {
        try await withTestBroker { broker in
            let topic = Topics.fulfillmentTransactions
            let topics = RelayTopics(
                [topic],
                TopicSettings(partitions: 3, replicationFactor: 1),
                Self.quiet
            )
            let admin = try KafkaAdmin(settings: broker.settings(), logger: Self.quiet)
            #expect(try await topics.lost(admin) {} == [topic])
            let lost = try await topics.lost(admin) {
                try await topics.makeMissing(admin)
                try await eventually("the topic") {
                    try await topics.missing(admin).isEmpty ? true : nil
                }
            }
            #expect(lost.isEmpty)
            let last = KafkaTopicPartition(topic: topic.name, partition: 2)
            #expect(try await !topics.hasLost([last], admin))
            let none = KafkaTopicPartition(topic: topic.name, partition: 3)
            #expect(try await topics.hasLost([last, none], admin))
            await admin.close()
        }
    }
}
