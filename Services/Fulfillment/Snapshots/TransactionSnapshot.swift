import EventTypes

/// The JSON of one value exactly as `payments` published it.
protocol Snapshot: Hashable, Sendable {
    /// The bytes of one JSON object.
    var bytes: [UInt8] { get }
    /// Wraps bytes that are known to be the value's JSON.
    init(bytes: [UInt8])
}

extension Snapshot {
    /// Reads the form in which the queue stores it.
    ///
    /// - Throws: `UnknownTextCode`.
    init(packed: [UInt8]) throws {
        self.init(bytes: try PackedJSON.unpacked(packed))
    }

    /// The form in which the queue stores it.
    var packed: [UInt8] { PackedJSON.packed(bytes) }
}

/// The JSON of one transaction exactly as `payments` published it.
///
/// It is cut out of the event's data rather than encoded again. So clients also get fields that
/// only a newer version of the store knows, and JSON is read once per event.
struct TransactionSnapshot: Snapshot {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Cuts the transaction out of the data of an event that was decoded successfully.
    ///
    /// - Throws: `EncodingError`. The transaction is encoded only if it could not be cut out.
    init(of transaction: Transaction, in data: [UInt8]) throws {
        if let range = PlainJSON.rangeOfObject("transaction", in: data) {
            bytes = Array(data[range])
        } else {
            bytes = try EventCoding.encode(EncodedTransaction(transaction: transaction))
        }
    }

    /// Returns the data of a `queue.changed.v1`, equal byte for byte to an encoded
    /// ``QueueChanged``.
    ///
    /// `contents` is already JSON, as stored in the queue.
    func queueChanged(
        revision: Int64,
        isDelivered: Bool,
        finishedAt: StoreTime?,
        contents: [UInt8]? = nil
    ) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(bytes.count + 112 + (contents?.count ?? 0))
        data.append(UInt8(ascii: "{"))
        if let contents {
            data.append(contentsOf: "\"contents\":".utf8)
            data.append(contentsOf: contents)
            data.append(UInt8(ascii: ","))
        }
        if let finishedAt {
            data.append(contentsOf: "\"finishedAt\":\(finishedAt.millisecondsSinceEpoch),".utf8)
        }
        data.append(contentsOf: "\"isDelivered\":\(isDelivered),".utf8)
        data.append(contentsOf: "\"revision\":\(revision),\"transaction\":".utf8)
        data.append(contentsOf: bytes)
        data.append(UInt8(ascii: "}"))
        return data
    }

    /// Wraps a transaction as an event, so that it can be encoded.
    private struct EncodedTransaction: Event {
        var transaction: Transaction

        init(transaction: Transaction) { self.transaction = transaction }

        init(from decoder: any Decoder) throws {
            transaction = try Transaction(from: decoder)
        }

        func encode(to encoder: any Encoder) throws {
            try transaction.encode(to: encoder)
        }
    }
}
