/// A failure that librdkafka or the broker reported.
public struct KafkaError: Error, CustomStringConvertible, Sendable {
    /// The kinds of failure that a caller may want to distinguish.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        /// No broker can be reached.
        public static let brokerUnavailable = Code(description: "brokerUnavailable")
        /// No answer came in time.
        public static let timedOut = Code(description: "timedOut")
        /// The topic or partition does not exist.
        public static let unknownTopic = Code(description: "unknownTopic")
        /// The broker's access rules forbid it.
        public static let notAuthorized = Code(description: "notAuthorized")
        /// The message is larger than the broker accepts.
        public static let messageTooLarge = Code(description: "messageTooLarge")
        /// Too many messages are waiting to be sent.
        public static let queueFull = Code(description: "queueFull")
        /// The group has begun a new generation without this member.
        public static let illegalGeneration = Code(description: "illegalGeneration")
        /// The group does not know this member.
        public static let unknownMember = Code(description: "unknownMember")
        /// The producer or consumer can no longer be used; make a new one.
        public static let fatal = Code(description: "fatal")
        /// A property does not exist or has an invalid value.
        public static let configuration = Code(description: "configuration")
        /// librdkafka is too old.
        public static let unsupportedVersion = Code(description: "unsupportedVersion")
        /// The producer or consumer was closed.
        public static let closed = Code(description: "closed")
        /// Any other failure; the description contains librdkafka's message.
        public static let other = Code(description: "other")
    }

    /// The kind of failure.
    public let code: Code
    /// Whether the same call may succeed later.
    public let isRetriable: Bool
    /// Whether the producer or consumer must be replaced.
    public let isFatal: Bool
    /// librdkafka's description of the failure; never a payload or a secret.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String, isRetriable: Bool = false, isFatal: Bool = false) {
        self.code = code
        self.message = message
        self.isRetriable = isRetriable
        self.isFatal = isFatal
    }

    /// A description of the failure.
    public var description: String { "\(code): \(message)" }
}
