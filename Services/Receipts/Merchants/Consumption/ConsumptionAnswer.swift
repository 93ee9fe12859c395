import EventTypes

/// A merchant's report on a purchase, with when it came, for who decides about a refund.
struct ConsumptionAnswer: Hashable, Sendable {
    let receivedAt: StoreTime
    /// The time of the buyer's newest request before it; `nil` if there was none.
    let requestedAt: StoreTime?
    /// Whether it came more than twelve hours after that request.
    let isLate: Bool
    /// The report as JSON.
    let report: [UInt8]

    /// The answer as JSON, with the bytes of the report as they are.
    var json: [UInt8] {
        var text = "{\"isLate\":\(isLate),\"receivedAt\":\(receivedAt.millisecondsSinceEpoch)"
        text += ",\"report\":" + String(decoding: report, as: UTF8.self)
        if let requestedAt { text += ",\"requestedAt\":\(requestedAt.millisecondsSinceEpoch)" }
        return Array((text + "}").utf8)
    }
}
