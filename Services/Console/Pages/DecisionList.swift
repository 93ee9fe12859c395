import EventTypes

/// The section that says who decided what, when and why.
///
/// Pure.
enum DecisionList {
    /// The section with its lines.
    static func section(_ lines: [HTML]) -> HTML {
        """
        <section aria-labelledby="decisions"><h2 id="decisions">Who decided what</h2>
        <ol class="timeline card">\(lines)</ol></section>
        """
    }

    /// A decision with its person and its reason.
    static func line(_ words: String, at time: some CustomStringConvertible, by act: Act) -> HTML {
        let reason: HTML? = act.reason.map { " “\($0)”" }
        return """
            <li><time datetime="\(time)">\(PlainWords.second(time))</time> \
            <strong>\(act.decidedBy)</strong> <span class="what">\(words)\(reason)</span></li>
            """
    }
}
