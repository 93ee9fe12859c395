import EventTypes

/// The JSON of one account exactly as `payments` published it, for the same reasons as
/// ``TransactionSnapshot``.
struct AccountSnapshot: Snapshot {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

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
