/// A refusal or a failure, in words for the person who looks at the page.
struct ConsoleProblem: Error, Hashable, Sendable {
    /// A place to go on from.
    struct Back: Hashable, Sendable {
        let path: String
        let words: String
    }

    /// The HTTP status.
    let status: Int
    let title: String
    let detail: String
    var back: Back?

    init(_ status: Int, _ title: String, _ detail: String, back: Back? = nil) {
        self.status = status
        self.title = title
        self.detail = detail
        self.back = back
    }

    /// Nobody is signed in.
    static let signedOut = ConsoleProblem(
        401,
        "You are not signed in",
        "Sign in first.",
        back: Back(path: "/sign-in", words: "Sign in")
    )

    /// An act was sent, and no answer came.
    ///
    /// - Parameter words: What went wrong.
    /// - Returns: The problem to show.
    static func answerLost(_ words: String) -> ConsoleProblem {
        ConsoleProblem(
            503,
            "No answer came",
            "\(words) The act may have been done or not. Look at what became of it before you try "
                + "again."
        )
    }

    /// The folder of the console's state cannot be written.
    static let unwritableFolder = ConsoleProblem(
        503,
        "The console cannot write down what it does",
        "Its folder CONSOLE_STATE_DIRECTORY cannot be written. Nothing was done."
    )

    /// The folder of the console's state cannot be written while a raise is under way.
    static let unwritablePlace = ConsoleProblem(
        503,
        "The console cannot write down how far it is",
        "Its folder CONSOLE_STATE_DIRECTORY cannot be written. Once it can, the raise goes on; no "
            + "price is raised twice."
    )

    /// There is no such page.
    static let notFound = ConsoleProblem(
        404,
        "There is no such page",
        "Search for a transaction, an order or an account."
    )
}
