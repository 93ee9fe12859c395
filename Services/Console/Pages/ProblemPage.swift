/// A page that says what went wrong, and where to go on.
///
/// Pure.
struct ProblemPage {
    let problem: ConsoleProblem
    /// The administrator who keeps the navigation; `nil` if nobody is signed in.
    let visitor: Visitor?
    /// Whether the same address may show its page in a moment, so that it is asked for again.
    var isWorthRepeating = false

    var html: HTML {
        PageFrame(title: problem.title, visitor: visitor, isTriedAgain: isWorthRepeating).page(
            """
            <section class="card" role="alert">
            <p>\(problem.detail)</p>
            \(again)
            <p><a href="\(problem.back?.path ?? "/")">\(problem.back?.words ?? "To the first page")</a></p>
            </section>
            """
        )
    }

    /// A link to the page itself: an empty address is that of the page, with all that was asked for.
    private var again: HTML? {
        isWorthRepeating ? "<p><a href=\"\">Try again</a></p>" : nil
    }
}
