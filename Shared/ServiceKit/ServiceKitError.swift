/// What keeps a service from starting or serving.
public struct ServiceKitError: Error, Hashable, CustomStringConvertible {
    /// What kind of failure it is; a program decides by this, never by the text.
    public let code: Code
    /// What happened and what to do about it.
    ///
    /// Holds no secret.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Whether trying again can help without anyone changing anything.
    public var isRetriable: Bool { false }

    /// The kinds of failure.
    ///
    /// More may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// Settings are missing or wrong; the process exits with 78.
        public static let settings = Code(description: "settings")
        /// A key file or directory cannot be used; the process exits with 78.
        public static let keys = Code(description: "keys")
        /// Another process listens on the address.
        public static let addressInUse = Code(description: "addressInUse")
        /// The address cannot be listened on for another reason.
        public static let cannotListen = Code(description: "cannotListen")
        /// A batch was answered with another number of responses than it had requests.
        public static let batchAnsweredWrongly = Code(description: "batchAnsweredWrongly")
    }
}
