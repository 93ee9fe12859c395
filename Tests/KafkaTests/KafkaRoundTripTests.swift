import Foundation
import Kafka
import Logging
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct KafkaRoundTripTests {
    private let logger = Logger(label: "test")

    @Test func aMessageArrivesWithItsKeyItsValueAndItsHeaders() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            let record = KafkaRecord(
                topic: topic.name,
                key: Array("k".utf8),
                value: Array("value".utf8),
                headers: [
                    KafkaHeader(name: "a", value: [1, 2]), KafkaHeader(name: "a", value: []),
                ]
            )
            #expect(try await producer.send([record]) == [KafkaDelivery(partition: 0, offset: 0)])
            let consumer = try topic.consumer(logger)
            let message = try #require(try await consumer.read(1).first)
            #expect(message.key == Array("k".utf8))
            #expect(message.value == Array("value".utf8))
            #expect(message.headers == record.headers)
            #expect(message.timestampMilliseconds > 0)
            await consumer.close()
        }
    }

    @Test func anAbsentValueIsNotAnEmptyOne() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            _ = try await producer.send([
                KafkaRecord(topic: topic.name, key: Array("k".utf8), value: nil),
                KafkaRecord(topic: topic.name, key: Array("k".utf8), value: []),
            ])
            let consumer = try topic.consumer(logger)
            let messages = try await consumer.read(2)
            #expect(messages.map(\.value) == [nil, []])
            await consumer.close()
        }
    }

    @Test func aBatchKeepsItsOrderAndReportsEveryOffset() async throws {
        try await withTestTopic(partitions: 3) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            let records = (0..<3000).map { number in
                KafkaRecord(
                    topic: topic.name,
                    key: Array("key\(number % 7)".utf8),
                    value: Array("\(number)".utf8)
                )
            }
            let deliveries = try await producer.send(records)
            #expect(Set(deliveries).count == 3000)
            let consumer = try topic.consumer(logger)
            let messages = try await consumer.read(3000)
            for key in 0..<7 {
                let numbers = messages.filter { $0.key == Array("key\(key)".utf8) }
                    .compactMap { $0.value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } }
                #expect(numbers == Array(stride(from: key, to: 3000, by: 7)))
            }
            await consumer.close()
        }
    }

    @Test func aMemberKnowsWhetherItStillWaitsForItsPartitions() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let members = [try topic.consumer(logger), try topic.consumer(logger)]
            #expect(try await members[0].poll(max: 1, timeout: .zero).awaitsPartitions)
            // One of two members gets the only partition, and the other knows that it gets none.
            try await eventually("both members to have their partitions") {
                var waiting = 0
                for member in members {
                    let poll = try await member.poll(max: 1, timeout: .milliseconds(100))
                    if poll.awaitsPartitions { waiting += 1 }
                }
                return waiting == 0 ? true : nil
            }
            let held = [try await members[0].assignment(), try await members[1].assignment()]
            #expect(held.map(\.count).sorted() == [0, 1])
            for member in members { await member.close() }
        }
    }

    @Test func aWaitForMessagesEndsWithItsTask() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let consumer = try topic.consumer(logger)
            let start = ContinuousClock.now
            let waiting = Task { try await consumer.next(max: 1, timeout: .seconds(300)) }
            try await Task.sleep(for: .milliseconds(300))
            waiting.cancel()
            _ = await waiting.result
            #expect(ContinuousClock.now - start < .seconds(120))
            await consumer.close()
        }
    }

    @Test func aConsumerGoesOnAfterTheOffsetThatWasCommitted() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            try await topic.send(0..<10, with: producer)
            let partition = KafkaTopicPartition(topic: topic.name, partition: 0)
            let first = try topic.consumer(logger, group: "g")
            _ = try await first.read(10)
            try await first.commit([partition: 4])
            await first.close()
            let second = try topic.consumer(logger, group: "g")
            #expect(try await second.read(1).first?.offset == 4)
            await second.close()
            let admin = try KafkaAdmin(settings: topic.settings, logger: logger)
            #expect(
                try await admin.committedOffsets(group: "g", partitions: [partition])
                    == [partition: 4]
            )
            #expect(
                try await admin.committedOffsets(group: "other", partitions: [partition]).isEmpty
            )
            await admin.close()
        }
    }

    @Test func aPollBringsTheAnswerToACommitThatWasBegun() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            try await topic.send(0..<10, with: producer)
            let partition = KafkaTopicPartition(topic: topic.name, partition: 0)
            let consumer = try topic.consumer(logger, group: "g")
            _ = try await consumer.read(10)
            try await consumer.beginCommit([partition: 4])
            let answer = try await eventually("an answer") {
                try await consumer.poll(max: 1, timeout: .milliseconds(100)).commitAnswer
            }
            try answer.get()
            #expect(try await consumer.committed([partition]) == [partition: 4])
            let later = try await consumer.poll(max: 1, timeout: .zero)
            let isToldAgain = later.commitAnswer != nil
            #expect(!isToldAgain)
            await consumer.close()
        }
    }

    @Test func seekingReadsAPartitionAgain() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            try await topic.send(0..<10, with: producer)
            let partition = KafkaTopicPartition(topic: topic.name, partition: 0)
            let consumer = try topic.consumer(logger)
            _ = try await consumer.read(10)
            try await consumer.seek(partition, to: .at(7))
            #expect(try await consumer.read(3).map(\.offset) == [7, 8, 9])
            try await consumer.seek(partition, to: .beginning)
            #expect(try await consumer.read(10).map(\.offset) == Array(0..<10))
            await consumer.close()
        }
    }

    @Test func aPausedPartitionBringsNothingUntilItIsResumed() async throws {
        try await withTestTopic(partitions: 1) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            let partition = KafkaTopicPartition(topic: topic.name, partition: 0)
            let consumer = try topic.consumer(logger)
            try await topic.send(0..<1, with: producer)
            _ = try await consumer.read(1)
            try await consumer.pause([partition])
            try await topic.send(1..<2, with: producer)
            let poll = try await consumer.poll(max: 10, timeout: .milliseconds(300))
            #expect(poll.messages.isEmpty)
            try await consumer.resume([partition])
            #expect(try await consumer.read(1).map(\.offset) == [1])
            await consumer.close()
        }
    }

    @Test func aFollowerReadsWhatComesAfterItBegan() async throws {
        try await withTestTopic(partitions: 2) { topic in
            let producer = try KafkaProducer(settings: topic.settings, logger: logger)
            let follower = try KafkaConsumer(
                settings: topic.settings,
                followingTopics: [topic.name, "later"],
                logger: logger
            )
            let poll = try await follower.poll(max: 10, timeout: .milliseconds(200))
            #expect(Set(poll.assigned.map(\.partition)) == [0, 1])
            try await topic.send(0..<5, with: producer)
            #expect(try await follower.read(5).count == 5)
            // A topic that is made later is read from its beginning.
            let admin = try KafkaAdmin(settings: topic.settings, logger: logger)
            _ = try await admin.createTopics([
                KafkaTopicDefinition(name: "later", partitions: 1, replicationFactor: 1)
            ])
            _ = try await producer.send([KafkaRecord(topic: "later", key: nil, value: [1])])
            #expect(try await follower.read(1).map(\.topic) == ["later"])
            await admin.close()
            await follower.close()
        }
    }
}
