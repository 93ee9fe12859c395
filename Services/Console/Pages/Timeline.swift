import OperatorCore

/// Steps of a story, in order of time.
///
/// Pure.
struct Timeline {
    let steps: [Story.Step]

    var html: HTML {
        let lines: [HTML] = steps.map { step in
            let time = "\(step.time)"
            let attention: HTML =
                step.isProblem ? "<strong class=\"tone-bad\">needs attention: </strong>" : ""
            return """
                <li data-kind="\(step.kind)"><time datetime="\(time)">\(PlainWords.moment(step.time))</time> \
                <span class="where">\(step.service)</span> <span class="what">\(attention)\(step.text)</span></li>
                """
        }
        return "<ol class=\"timeline card\">\(lines)</ol>"
    }
}
