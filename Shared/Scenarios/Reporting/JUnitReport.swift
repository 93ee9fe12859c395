/// Reports in the XML that build servers read (JUnit's).
public enum JUnitReport {
    /// Returns the document.
    ///
    /// - Parameter reports: The reports; each of them is a test case.
    /// - Returns: XML with a line break at its end.
    public static func text(_ reports: [ScenarioReport]) -> String {
        let time = reports.reduce(Duration.zero) { $0 + $1.time }
        let counts =
            "tests=\"\(reports.count)\" failures=\"\(reports.count(where: \.hasFailed))\" "
            + "errors=\"0\" skipped=\"\(reports.count(where: \.wasSkipped))\" "
            + "time=\"\(time.inSeconds)\""
        let cases = reports.map(testCase).joined()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(counts)>
              <testsuite name="scenarios" \(counts)>
            \(cases)  </testsuite>
            </testsuites>

            """
    }

    private static func testCase(_ report: ScenarioReport) -> String {
        let head =
            "    <testcase classname=\"\(escaped(report.path))\" name=\"\(escaped(report.name))\" "
            + "file=\"\(escaped(report.path))\" time=\"\(report.time.inSeconds)\""
        switch report.outcome {
        case .passed:
            guard let leftOut = report.leftOut else { return head + "/>\n" }
            return head + ">\n      <system-out>\(leftOut)</system-out>\n    </testcase>\n"
        case .failed(let findings):
            let message = findings.first?.message ?? ""
            let text = report.lines.dropFirst().joined(separator: "\n")
            return head + ">\n      <failure message=\"\(escaped(message))\">"
                + escaped(text) + "</failure>\n    </testcase>\n"
        case .skipped(let needs):
            let message = "it needs " + ScenarioReport.list(needs)
            return head + ">\n      <skipped message=\"\(escaped(message))\"/>\n    </testcase>\n"
        }
    }

    /// Text as it may stand in an attribute and in an element.
    ///
    /// XML 1.0 has no form for most control characters, so they are replaced.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t": escaped += "&#\(scalar.value);"
            case "\u{0}"..<" ", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
