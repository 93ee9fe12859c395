import EventTypes
import Testing

/// `deploy/kafka/topics.sh` makes the topics of `Topics.swift`, and no others.
@Suite struct TopicsScriptTests {
    @Test func theScriptMakesTheTopicsOfTheCode() throws {
        let script = try Repository.file("deploy/kafka/topics.sh")
        var made: [String: [String]] = [:]
        for text in script.lines {
            guard let match = text.firstMatch(of: /^topic (\S+) (\S+)(?: (\d+))?$/) else {
                continue
            }
            made[String(match.1)] = [match.2, match.3].compactMap { $0.map(String.init) }
        }
        var wanted: [String: [String]] = [:]
        for topic in Topics.all {
            let count = topic.fixedPartitions.map { ["\($0)"] } ?? []
            wanted[topic.name] = [topic.isCompacted ? "compact" : "delete"] + count
            if let letters = topic.deadLetters { wanted[letters] = ["delete"] }
        }
        #expect(made == wanted, "\(script.path): make it say what Topics.swift says")
    }

    @Test func theScriptDropsNothingForItsAge() throws {
        let script = try Repository.file("deploy/kafka/topics.sh")
        for property in ["retention.ms=-1", "retention.bytes=-1"] {
            #expect(script.text.contains("--config \(property)"), "\(script.path): \(property)")
        }
    }

    @Test func theScriptHasTheCodesNumberOfPartitions() throws {
        let script = try Repository.file("deploy/kafka/topics.sh")
        #expect(
            script.text.contains("partitions=${KAFKA_TOPIC_PARTITIONS:-\(Topics.partitionCount)}"),
            "\(script.path): its default is not Topics.partitionCount (\(Topics.partitionCount))"
        )
    }
}
