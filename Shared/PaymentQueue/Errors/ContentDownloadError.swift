import StoreAPI

/// Why a download did not end with its content.
struct ContentDownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String
        /// The store refuses; ``ContentDownloadError/problem`` says why.
        static let refused = Code(description: "refused")
        /// The store cannot be reached, or fails, however often it is asked.
        static let notReachable = Code(description: "notReachable")
        /// The store answers with something that is not what was asked for.
        static let answerUnexpected = Code(description: "answerUnexpected")
        /// The bytes are not those of the digest; they are thrown away.
        static let digestDiffers = Code(description: "digestDiffers")
        /// There is no room for the bytes.
        static let diskFull = Code(description: "diskFull")
        /// The directory cannot be written, or its files not be read.
        static let directoryUnusable = Code(description: "directoryUnusable")
        /// Another download of the same content is under way in the same directory.
        static let inProgress = Code(description: "inProgress")
    }

    let code: Code
    let message: String
    /// What the store answered, with the code ``Code/refused``.
    let problem: Problem?

    var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String, problem: Problem? = nil) {
        self.code = code
        self.message = message
        self.problem = problem
    }
}
