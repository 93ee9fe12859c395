/// A parser for `text/event-stream` (WHATWG HTML, section 9.2.6).
///
/// It does no I/O. Lines end in LF, CR or both. Comments and unknown fields are skipped.
public struct ServerSentEventParser: Sendable {
    /// One event.
    public struct Event: Hashable, Sendable {
        /// The last id in the stream.
        ///
        /// The client resumes from it.
        public var id: String?
        /// The name of the event.
        ///
        /// The default is `message`.
        public var name: String
        /// The data of the event.
        public var data: [UInt8]

        /// Makes an event.
        public init(id: String?, name: String, data: [UInt8]) {
            self.id = id
            self.name = name
            self.data = data
        }
    }

    /// The error for a line that is longer than any line of the store.
    public struct LineIsTooLong: Error {}

    private let lineLengthMax: Int
    private var line: [UInt8] = []
    private var endedInCarriageReturn = false
    private var id: String?
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false

    /// Makes a parser.
    ///
    /// - Parameter lineLengthMax: The maximum length of a line in bytes. The default is longer than
    ///   any event of the store.
    public init(lineLengthMax: Int = 1 << 20) { self.lineLengthMax = lineLengthMax }

    /// Parses bytes as they arrive.
    ///
    /// - Returns: The events that these bytes complete.
    /// - Throws: ``LineIsTooLong``.
    public mutating func parse(_ bytes: some Sequence<UInt8>) throws -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            defer { endedInCarriageReturn = byte == UInt8(ascii: "\r") }
            switch byte {
            case UInt8(ascii: "\n") where endedInCarriageReturn: continue
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if let event = endLine() { events.append(event) }
            default:
                guard line.count < lineLengthMax else { throw LineIsTooLong() }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "id": id = String(decoding: value, as: UTF8.self)
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            data.append(contentsOf: value)
            hasData = true
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> Event? {
        defer {
            name = ""
            data = []
            hasData = false
        }
        guard hasData else { return nil }
        return Event(id: id, name: name.isEmpty ? "message" : name, data: data)
    }
}
