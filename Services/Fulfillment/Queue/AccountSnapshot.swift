import EventTypes

/// The JSON of one account exactly as `payments` published it, for the same reasons as
/// ``TransactionSnapshot``.
struct AccountSnapshot: Hashable, Sendable {
    /// The bytes of one JSON object.
    let bytes: [UInt8]

    /// Wraps bytes that are known to be an account's JSON.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the form in which the queue stores it.
    ///
    /// - Throws: `UnknownTextCode`.
    init(packed: [UInt8]) throws {
        bytes = try PackedJSON.unpacked(packed)
    }

    /// The form in which the queue stores it.
    var packed: [UInt8] { PackedJSON.packed(bytes) }

    /// Cuts the account out of the data of an event that was decoded successfully.
    ///
    /// - Throws: `EncodingError`. The account is encoded only if it could not be cut out.
    init(of account: Account, in data: [UInt8]) throws {
        if let range = PlainJSON.rangeOfObject("account", in: data) {
            bytes = Array(data[range])
        } else {
            let encoded = try EventCoding.encode(AccountChanged(account: account))
            bytes = PlainJSON.rangeOfObject("account", in: encoded).map { Array(encoded[$0]) } ?? []
        }
    }

    /// The data of a `queue.account-changed.v1`, equal byte for byte to an encoded
    /// ``QueueAccountChanged``.
    func queueAccountChanged(revision: Int64) -> [UInt8] {
        var data = Array("{\"account\":".utf8)
        data.reserveCapacity(bytes.count + 48)
        data.append(contentsOf: bytes)
        data.append(contentsOf: ",\"revision\":\(revision)}".utf8)
        return data
    }
}
