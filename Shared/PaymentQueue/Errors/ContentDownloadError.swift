import StoreAPI

/// The reason why a download failed.
struct ContentDownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String
        /// The store refused the download.
        ///
        /// ``ContentDownloadError/problem`` contains the reason.
        static let refused = Code(description: "refused")
        /// The store could not be reached, or kept failing, after all retries.
        static let notReachable = Code(description: "notReachable")
        /// The store's answer does not match the request.
        static let answerUnexpected = Code(description: "answerUnexpected")
        /// The bytes do not match the digest and were discarded.
        static let digestDiffers = Code(description: "digestDiffers")
        /// The disk is full.
        static let diskFull = Code(description: "diskFull")
        /// The directory cannot be written, or its files cannot be read.
        static let directoryUnusable = Code(description: "directoryUnusable")
        /// Another download of the same content is under way in the same directory.
        static let inProgress = Code(description: "inProgress")
    }

    let code: Code
    let message: String
    /// The store's answer, if the code is ``Code/refused``.
    let problem: Problem?

    var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String, problem: Problem? = nil) {
        self.code = code
        self.message = message
        self.problem = problem
    }
}
