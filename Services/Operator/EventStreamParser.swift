/// One event of a stream of server-sent events.
struct ServerSentEvent: Hashable, Sendable {
    var id: String?
    var name: String?
    var data: String
}

/// Cuts the bytes of `text/event-stream` into events, as the HTML standard says (section 9.2.6):
/// lines end in LF, CR LF or CR, comments begin with a colon, an empty line ends an event.
struct EventStreamParser: Sendable {
    private var line: [UInt8] = []
    private var followsCarriageReturn = false
    private var id: String?
    private var name: String?
    private var data: [String] = []

    /// Takes bytes as they arrive.
    ///
    /// - Returns: The events that these bytes complete.
    mutating func consume(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            defer { followsCarriageReturn = byte == UInt8(ascii: "\r") }
            switch byte {
            case UInt8(ascii: "\n") where followsCarriageReturn: break
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if let event = endLine() { events.append(event) }
            default: line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return endEvent() }
        let text = String(decoding: line, as: UTF8.self)
        let field: Substring
        var value: Substring
        if let colon = text.firstIndex(of: ":") {
            field = text[..<colon]
            value = text[text.index(after: colon)...]
            if value.hasPrefix(" ") { value = value.dropFirst() }
        } else {
            field = text[...]
            value = ""
        }
        switch field {
        case "id": id = String(value)
        case "event": name = String(value)
        case "data": data.append(String(value))
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            name = nil
            data = []
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(id: id, name: name, data: data.joined(separator: "\n"))
    }
}
