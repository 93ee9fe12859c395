import Foundation
import Kafka
import Logging
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct KafkaClusterTests {
    private let logger = Logger(label: "test")

    @Test func makingATopicThatExistsIsNoError() async throws {
        try await withTestTopic(partitions: 3) { topic in
            let admin = try KafkaAdmin(settings: topic.settings, logger: logger)
            let again = KafkaTopicDefinition(name: topic.name, partitions: 3, replicationFactor: 1)
            #expect(try await admin.createTopics([again]).isEmpty)
            // Kafka's brokers hear of a new topic shortly after its maker does.
            try await eventually("the topic to be there") {
                try await admin.partitions(of: topic.name) == 3 ? true : nil
            }
            #expect(try await admin.partitions(of: "no-such-topic") == nil)
            try await admin.deleteTopics([topic.name])
            try await eventually("the topic to be gone") {
                try await admin.partitions(of: topic.name) == nil ? true : nil
            }
            await admin.close()
        }
    }

    @Test func theWatermarksAndTheTimesOfAPartitionAreKnown() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            let partition = KafkaTopicPartition(topic: topic.name, partition: 0)
            // One record a batch: the development broker's high watermark counts batches.
            for number in 0..<3 { try await topic.send(number..<number + 1, with: producer) }
            let admin = try KafkaAdmin(settings: topic.settings, logger: logger)
            let (low, high) = try await admin.watermarks(of: partition)
            #expect(low == 0)
            #expect(high == 3)
            #expect(try await admin.offsets(for: [partition: 0]) == [partition: 0])
            #expect(try await admin.endOffsets(of: [partition]) == [partition: 3])
            await admin.close()
        }
    }

    @Test func aCommitAndAnEndWaitNotLongForABrokerThatIsAway() async throws {
        let consumer = try KafkaConsumer(
            settings: KafkaSettings(
                bootstrapServers: "127.0.0.1:\(try freePort())",
                clientID: "test",
                properties: ["session.timeout.ms": "240000"]
            ),
            group: "away",
            topics: ["away"],
            logger: logger
        )
        let start = ContinuousClock.now
        let error = await #expect(throws: KafkaError.self) {
            try await consumer.commit([KafkaTopicPartition(topic: "away", partition: 0): 5])
        }
        #expect(error?.code == .timedOut)
        #expect(error?.isRetriable == true)
        await consumer.close()
        #expect(
            .now - start < .seconds(120),
            "3 and 5 are promised, on a machine that has time; a session of the group lasts 240"
        )
    }

    @Test func twoMembersShareThePartitionsAndTheLastOneGetsAll() async throws {
        try await withTestTopic(partitions: 4) { topic in
            let first = try topic.consumer(logger, group: "shared")
            // The partitions that were assigned to the first member.
            var owned: Set<KafkaTopicPartition> = []
            func pollFirst() async throws {
                let poll = try await first.poll(max: 1, timeout: .milliseconds(50))
                owned = owned.subtracting(poll.revoked).union(poll.assigned)
            }
            try await eventually(within: .seconds(90), "the first member to have all partitions") {
                try await pollFirst()
                return owned.count == 4 ? true : nil
            }
            let second = try topic.consumer(logger, group: "shared")
            try await eventually(within: .seconds(90), "both members to have two partitions") {
                try await pollFirst()
                _ = try await second.poll(max: 1, timeout: .milliseconds(50))
                let counts = (
                    try await first.assignment().count, try await second.assignment().count
                )
                return counts == (2, 2) ? true : nil
            }
            #expect(owned == Set(try await first.assignment()), "revoked partitions are reported")
            await first.close()
            try await eventually(within: .seconds(90), "the second member to have all partitions") {
                _ = try await second.poll(max: 1, timeout: .milliseconds(50))
                return try await second.assignment().count == 4 ? true : nil
            }
            await second.close()
        }
    }

    @Test func aConsumerGoesOnInTheNewLogOfABrokerThatLostTheOld() async throws {
        try await withTestBroker { broker in
            let settings = broker.settings()
            let admin = try KafkaAdmin(settings: settings, logger: logger)
            let topic = KafkaTopicDefinition(name: "t", partitions: 1, replicationFactor: 1)
            _ = try await admin.createTopics([topic])
            let producer = try KafkaProducer(settings: settings, logger: logger)
            let consumer = try KafkaConsumer(
                settings: settings,
                group: "g",
                topics: ["t"],
                logger: logger
            )
            for _ in 0..<5 {
                _ = try await producer.send([KafkaRecord(topic: "t", key: [1], value: [1])])
            }
            _ = try await consumer.read(5)
            try await broker.restart()
            try await eventually("the topic to be made again") {
                try await admin.createTopics([topic]).isEmpty ? nil : true
            }
            let later = try KafkaProducer(settings: settings, logger: logger)
            let delivery = try await later.send([KafkaRecord(topic: "t", key: [1], value: [2])])
            #expect(delivery.first?.offset == 0)
            #expect(try await consumer.read(1).map(\.value) == [[2]])
            await consumer.close()
            await admin.close()
        }
    }

    /// A broker makes it with its own number of partitions, and readers of the topic miss some of them.
    @Test func aProducerMakesNoTopicThatIsMissing() async throws {
        try await withTestBroker { broker in
            let impatient = [
                "topic.metadata.propagation.max.ms": "500", "message.timeout.ms": "5000",
            ]
            let settings = KafkaSettings(
                bootstrapServers: broker.settings().bootstrapServers,
                clientID: "test",
                properties: impatient
            )
            let producer = try KafkaProducer(settings: settings, logger: logger)
            await #expect(throws: KafkaError.self) {
                try await producer.send([KafkaRecord(topic: "missing", key: [1], value: [1])])
            }
            let admin = try KafkaAdmin(settings: settings, logger: logger)
            #expect(try await admin.partitions(of: "missing") == nil)
            await admin.close()
        }
    }

    @Test func cancellingTheRunOfAProducerFailsWhatIsStillWaiting() async throws {
        let settings = KafkaSettings(
            bootstrapServers: "127.0.0.1:\(try freePort())",
            clientID: "test"
        )
        let producer = try KafkaProducer(settings: settings, logger: logger)
        let run = Task { try await producer.run() }
        let send = Task {
            try await producer.send([KafkaRecord(topic: "t", key: nil, value: [1])])
        }
        run.cancel()
        try await run.value
        await #expect(throws: KafkaError.self) { try await send.value }
    }

    @Test func aPropertyThatDoesNotExistIsRefusedByName() throws {
        let settings = KafkaSettings(
            bootstrapServers: "127.0.0.1:1",
            clientID: "test",
            properties: ["no.such": "1"]
        )
        let error = #expect(throws: KafkaError.self) {
            try KafkaProducer(settings: settings, logger: logger)
        }
        #expect(error?.code == .configuration)
        #expect(error?.message.contains("no.such") == true)
    }

    @Test func aValueThatDoesNotFitIsRefusedWithoutRepeatingIt() throws {
        let settings = KafkaSettings(
            bootstrapServers: "127.0.0.1:1",
            clientID: "test",
            properties: ["security.protocol": "s3cret"]
        )
        let error = #expect(throws: KafkaError.self) {
            try KafkaConsumer(settings: settings, group: "g", topics: ["t"], logger: logger)
        }
        #expect(error?.message.contains("security.protocol") == true)
        #expect(error?.message.contains("s3cret") == false)
    }
}
