import CLibrdkafka

/// A version of librdkafka, from its number in hexadecimal: `0x020a01ff` is 2.10.1.
struct RDKafkaVersion: Comparable, CustomStringConvertible {
    let major: Int
    let minor: Int
    let patch: Int

    static let oldestSupported = RDKafkaVersion(number: 0x020a_00ff)

    static var running: RDKafkaVersion { RDKafkaVersion(number: rd_kafka_version()) }

    init(number: Int32) {
        major = Int(number >> 24) & 0xFF
        minor = Int(number >> 16) & 0xFF
        patch = Int(number >> 8) & 0xFF
    }

    var description: String { "\(major).\(minor).\(patch)" }

    static func < (left: RDKafkaVersion, right: RDKafkaVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    func requireSupported() throws(KafkaError) {
        guard self >= Self.oldestSupported else {
            throw KafkaError(
                .unsupportedVersion,
                "librdkafka \(self) is running, \(Self.oldestSupported) or newer is needed; "
                    + "`make setup` builds one"
            )
        }
    }
}
