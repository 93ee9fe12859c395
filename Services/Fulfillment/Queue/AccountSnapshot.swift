import EventTypes

/// An account that arrived from `payments`, with the bytes it came as.
struct ArrivedAccount: Sendable {
    let queue: QueueKey
    let version: Int
    let snapshot: AccountSnapshot
    let traceparent: String?

    init(_ account: Account, snapshot: AccountSnapshot, traceparent: String? = nil) {
        queue = QueueKey(accountID: account.accountID, bundleID: account.bundleID)
        version = account.version
        self.snapshot = snapshot
        self.traceparent = traceparent
    }
}

/// A change of a queue by its account, with its revision: what is published, and what clients are
/// sent.
struct QueueAccountChange: Sendable {
    let queue: QueueKey
    let revision: Int64
    let snapshot: AccountSnapshot
    var traceparent: String?

    /// The data of its event.
    var data: [UInt8] { snapshot.queueAccountChanged(revision: revision) }

    /// The message that tells a client.
    var message: QueueMessage { QueueMessage(revision: revision, kind: .account, data: data) }
}

/// The JSON of one account exactly as `payments` published it, for the same reasons as
/// ``TransactionSnapshot``.
struct AccountSnapshot: Hashable, Sendable {
    /// The bytes of one JSON object.
    let bytes: [UInt8]

    /// Wraps bytes that are known to be an account's JSON.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Cuts the account out of the data of an event that has decoded as one.
    ///
    /// - Throws: `EncodingError`, only where the cut fails and the account is encoded instead.
    init(of account: Account, in data: [UInt8]) throws {
        if let range = PlainJSON.rangeOfObject("account", in: data) {
            bytes = Array(data[range])
        } else {
            let encoded = try EventCoding.encode(AccountChanged(account: account))
            bytes = PlainJSON.rangeOfObject("account", in: encoded).map { Array(encoded[$0]) } ?? []
        }
    }

    /// The data of a `queue.account-changed.v1`: the same bytes as encoding a
    /// ``QueueAccountChanged`` gives.
    func queueAccountChanged(revision: Int64) -> [UInt8] {
        var data = Array("{\"account\":".utf8)
        data.reserveCapacity(bytes.count + 48)
        data.append(contentsOf: bytes)
        data.append(contentsOf: ",\"revision\":\(revision)}".utf8)
        return data
    }
}
