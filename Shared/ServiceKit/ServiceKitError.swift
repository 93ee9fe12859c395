/// An error that prevents a service from starting or serving.
public struct ServiceKitError: Error, Hashable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// Programs decide by this, never by the text.
    public let code: Code
    /// The failure and its remedy.
    ///
    /// It contains no secret.
    public let description: String

    /// Makes an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The kinds of failure.
    ///
    /// Later versions may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// Settings are missing or wrong; the process exits with 78.
        public static let settings = Code(description: "settings")
        /// A key file or directory cannot be used; the process exits with 78.
        public static let keys = Code(description: "keys")
        /// Another process already listens on the address.
        public static let addressInUse = Code(description: "addressInUse")
        /// The server cannot listen on the address for another reason.
        public static let cannotListen = Code(description: "cannotListen")
        /// A route of administrators is not in the table of their scopes.
        public static let routes = Code(description: "routes")
        /// The number of responses to a batch differs from the number of its requests.
        public static let batchAnsweredWrongly = Code(description: "batchAnsweredWrongly")
    }
}
