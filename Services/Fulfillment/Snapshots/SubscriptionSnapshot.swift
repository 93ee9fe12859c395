import EventTypes

/// The JSON of one subscription exactly as `payments` published it, for the same reasons as
/// ``TransactionSnapshot``.
struct SubscriptionSnapshot: Snapshot {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Cuts the subscription out of the data of an event that was decoded successfully.
    ///
    /// - Throws: `EncodingError`. The subscription is encoded only if it could not be cut out.
    init(of subscription: Subscription, in data: [UInt8]) throws {
        if let range = PlainJSON.rangeOfObject("subscription", in: data) {
            bytes = Array(data[range])
        } else {
            let event = QueueSubscriptionChanged(revision: 1, subscription: subscription)
            let encoded = try EventCoding.encode(event)
            bytes =
                PlainJSON.rangeOfObject("subscription", in: encoded).map { Array(encoded[$0]) }
                ?? []
        }
    }

    /// The data of a `queue.subscription-changed.v1`, equal byte for byte to an encoded
    /// ``QueueSubscriptionChanged``.
    func queueSubscriptionChanged(revision: Int64) -> [UInt8] {
        var data = Array("{\"revision\":\(revision),\"subscription\":".utf8)
        data.reserveCapacity(data.count + bytes.count + 1)
        data.append(contentsOf: bytes)
        data.append(UInt8(ascii: "}"))
        return data
    }
}
