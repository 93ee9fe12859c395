/// A page that says what went wrong, and where to go on.
///
/// Pure.
struct ProblemPage {
    let problem: ConsoleProblem
    let visitor: Visitor?

    var html: HTML {
        PageFrame(title: problem.title, visitor: visitor).page(
            """
            <section class="card" role="alert">
            <p>\(problem.detail)</p>
            <p><a href="\(problem.back?.path ?? "/")">\(problem.back?.words ?? "To the first page")</a></p>
            </section>
            """
        )
    }
}
