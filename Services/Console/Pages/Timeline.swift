import OperatorCore

/// Steps of a story, in order of time, each with the time since the first one.
///
/// Events and postings say in the store's own words what other steps say in plain ones. So they stand
/// in a list of their own, which is opened by a click, unless they need attention. Pure.
struct Timeline {
    let steps: [Story.Step]

    var html: HTML {
        let plain = steps.filter { !Self.isTechnical($0) }
        let technical = steps.filter(Self.isTechnical)
        guard !plain.isEmpty, !technical.isEmpty else { return list(steps, "timeline card") }
        let words = technical.count == 1 ? "1 technical step" : "\(technical.count) technical steps"
        return """
            \(list(plain, "timeline card"))
            <details><summary>\(words)</summary>\(list(technical, "technical card", hasTraces: true))</details>
            """
    }

    /// Whether a step is only for people who know the store's events and books.
    static func isTechnical(_ step: Story.Step) -> Bool {
        ["event", "posting"].contains(step.kind) && !step.isProblem
    }

    private func list(
        _ steps: [Story.Step],
        _ classes: HTML,
        hasTraces: Bool = false
    ) -> HTML {
        "<ol class=\"\(classes)\">\(steps.map { line($0, hasTraces ? trace($0) : nil) })</ol>"
    }

    /// The trace of a step, which leads back here by a search, and to its spans elsewhere.
    private func trace(_ step: Story.Step) -> HTML? {
        step.traceID.map { id in
            " <span class=\"trace\">trace <a href=\"/search?\(PlainWords.query([("q", id)]))\">\(id)</a></span>"
        }
    }

    private func since(_ step: Story.Step) -> Age {
        Age(of: steps.first?.time ?? step.time, at: step.time)
    }

    private func line(_ step: Story.Step, _ trace: HTML?) -> HTML {
        let attention: HTML =
            step.isProblem ? "<strong class=\"tone-bad\">needs attention: </strong>" : ""
        return """
            <li data-kind="\(step.kind)"><time datetime="\(step.time)">\(PlainWords.moment(step.time))</time> \
            <span class="since" title="since the first step">+\(since(step))</span> \
            <span class="where">\(step.service)</span> <span class="what">\(attention)\(step.text)</span>\(trace)</li>
            """
    }
}
