/// Takes the bytes of `text/event-stream` apart (WHATWG HTML, section 9.2.6).
///
/// Pure. Lines end in LF, CR or both; comments and fields it does not know are passed over.
public struct ServerSentEventParser: Sendable {
    /// One event.
    public struct Event: Hashable, Sendable {
        /// The last id that the stream has named, to resume from.
        public var id: String?
        /// The event's name; `message` if the stream gives none.
        public var name: String
        /// Its data.
        public var data: [UInt8]

        /// Makes an event.
        public init(id: String?, name: String, data: [UInt8]) {
            self.id = id
            self.name = name
            self.data = data
        }
    }

    /// A line was longer than any that the store writes.
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
    /// - Parameter lineLengthMax: In bytes; more than any event of the store has.
    public init(lineLengthMax: Int = 1 << 20) { self.lineLengthMax = lineLengthMax }

    /// Takes bytes as they arrive.
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
