import Foundation
import StoreHarness

extension Terminal {
    /// Shows a request and its response.
    func show(
        _ method: String,
        _ path: String,
        service: String,
        headers: [String] = [],
        body: String?,
        _ response: StoreResponse
    ) {
        line(
            "  " + styled("→ \(method)", .cyan) + " \(path)"
                + styled("   to \(service)", .dim)
        )
        for header in headers { line("    " + header, .dim) }
        if let body { flow(body, indent: 4) }
        let style: Terminal.Style = (200..<300).contains(response.status) ? .green : .red
        line("  " + styled("← \(response.status)", style))
        flow(response.text, indent: 4)
    }

    /// Shows JSON with sorted keys, with line breaks between its fields to fit the terminal.
    func flow(_ json: String, indent: Int) {
        // What is no JSON is shown as it is.
        let value = try? JSONSerialization.jsonObject(with: Data(json.utf8))
        let sorted = value.flatMap {
            try? JSONSerialization.data(
                withJSONObject: $0,
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
        }
        let text = sorted.map { String(decoding: $0, as: UTF8.self) } ?? json
        let margin = String(repeating: " ", count: indent)
        var line = ""
        var piece = ""
        var isQuoted = false
        for character in text {
            piece.append(character)
            if character == "\"" { isQuoted.toggle() }
            guard character == ",", !isQuoted else { continue }
            if !line.isEmpty, line.count + piece.count > 96 - indent {
                self.line(margin + line, .dim)
                line = ""
            }
            line += piece
            piece = ""
        }
        if !line.isEmpty, line.count + piece.count > 96 - indent {
            self.line(margin + line, .dim)
            line = ""
        }
        line += piece
        // A signature is one long word, so its middle is left out.
        let long = line.count > 300
        self.line(margin + (long ? "\(line.prefix(140)) … \(line.suffix(60))" : line), .dim)
    }
}
