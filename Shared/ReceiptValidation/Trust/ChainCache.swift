import Crypto
import Synchronization

/// The chains that were verified, by the bytes that brought them.
///
/// Only what was verified gets in, so that nobody but the store can fill it. What is found by
/// comparing bytes needs no hash: there are seldom more than two.
final class ChainCache: Sendable {
    /// A verified chain.
    final class Entry: Sendable {
        /// The bytes that brought it.
        let bytes: [UInt8]
        /// The chain.
        let chain: VerifiedChain
        /// The state of SHA-256 after those bytes: a JWS's header is hashed once.
        let hash: SHA256

        init(bytes: ArraySlice<UInt8>, chain: VerifiedChain) {
            self.bytes = Array(bytes)
            self.chain = chain
            var hash = SHA256()
            hash.update(data: self.bytes)
            self.hash = hash
        }
    }

    private static let countMax = 16

    private let entries = Mutex<[Entry]>([])

    /// The chain that bytes bring, verified now unless it was before.
    ///
    /// - Throws: What the verification throws; that is not remembered.
    func entry(
        for bytes: ArraySlice<UInt8>,
        verify: () throws(ReceiptRefusal) -> VerifiedChain
    ) throws(ReceiptRefusal) -> Entry {
        let found = entries.withLock { entries in
            entries.first { $0.bytes.count == bytes.count && $0.bytes[...] == bytes }
        }
        if let found { return found }
        let entry = Entry(bytes: bytes, chain: try verify())
        entries.withLock { entries in
            if entries.count == Self.countMax { entries.removeFirst() }
            entries.append(entry)
        }
        return entry
    }
}
