import EventTypes

/// The JSON of one transaction exactly as `payments` published it.
///
/// It is cut out of the event's data rather than encoded again, so that fields of a newer version
/// of the store reach clients unread and unharmed, and so that JSON is read once per event.
struct TransactionSnapshot: Hashable, Sendable {
    /// The bytes of one JSON object.
    let bytes: [UInt8]

    /// Wraps bytes that are known to be a transaction's JSON.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Cuts the transaction out of the data of an event that has decoded as one.
    ///
    /// - Throws: `EncodingError`, only where the cut fails and the transaction is encoded instead.
    init(of transaction: Transaction, in data: [UInt8]) throws {
        if let range = JSONObjectField.range(of: "transaction", in: data) {
            bytes = Array(data[range])
        } else {
            bytes = try EventCoding.encode(EncodedTransaction(transaction: transaction))
        }
    }

    /// The data of a `queue.changed.v1`: the same bytes as encoding a ``QueueChanged`` gives.
    func queueChanged(revision: Int64, isDelivered: Bool, finishedAt: Timestamp?) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(bytes.count + 112)
        data.append(UInt8(ascii: "{"))
        if let finishedAt {
            data.append(contentsOf: "\"finishedAt\":\(finishedAt.millisecondsSinceEpoch),".utf8)
        }
        data.append(contentsOf: "\"isDelivered\":\(isDelivered),".utf8)
        data.append(contentsOf: "\"revision\":\(revision),\"transaction\":".utf8)
        data.append(contentsOf: bytes)
        data.append(UInt8(ascii: "}"))
        return data
    }

    /// A transaction as an event of its own, for its encoding.
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

/// Finds a field of a JSON object without decoding the rest.
enum JSONObjectField {
    /// The range of an object that is the value of a key of the outermost object.
    ///
    /// - Parameters:
    ///   - key: The key, as it stands in the data: without escapes.
    ///   - data: Valid JSON.
    /// - Returns: `nil` if there is no such key, its value is no object, or the JSON is cut short.
    static func range(of key: StaticString, in data: [UInt8]) -> Range<Int>? {
        key.withUTF8Buffer { key in
            data.withUnsafeBufferPointer { data in
                var scanner = Scanner(data: data)
                return scanner.range(of: key)
            }
        }
    }

    private struct Scanner {
        let data: UnsafeBufferPointer<UInt8>
        var position = 0

        mutating func range(of key: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
            var depth = 0
            while position < data.count {
                switch data[position] {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    position += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    position += 1
                case UInt8(ascii: "\""):
                    guard let string = skipString() else { return nil }
                    guard depth == 1, string.elementsEqual(key), skipColon() else { continue }
                    return object()
                default:
                    position += 1
                }
            }
            return nil
        }

        /// Passes a string, and tells what stood between its quotes.
        private mutating func skipString() -> UnsafeBufferPointer<UInt8>.SubSequence? {
            position += 1
            let start = position
            while position < data.count {
                switch data[position] {
                case UInt8(ascii: "\\"):
                    position += 2
                case UInt8(ascii: "\""):
                    defer { position += 1 }
                    return data[start..<position]
                default:
                    position += 1
                }
            }
            return nil
        }

        /// Passes a colon, if one comes next: the string before it was a key, not a value.
        private mutating func skipColon() -> Bool {
            skipSpace()
            guard position < data.count, data[position] == UInt8(ascii: ":") else { return false }
            position += 1
            skipSpace()
            return true
        }

        private mutating func skipSpace() {
            while position < data.count, [0x20, 0x09, 0x0A, 0x0D].contains(data[position]) {
                position += 1
            }
        }

        private mutating func object() -> Range<Int>? {
            guard position < data.count, data[position] == UInt8(ascii: "{") else { return nil }
            let start = position
            var depth = 0
            while position < data.count {
                switch data[position] {
                case UInt8(ascii: "\""):
                    guard skipString() != nil else { return nil }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                default:
                    break
                }
                position += 1
                if depth == 0 { return start..<position }
            }
            return nil
        }
    }
}
