import Crypto
import Synchronization

/// A cache of verified chains.
///
/// The key is the encoded chain.
///
/// Only verified chains are added, so only the store can fill the cache. Entries are found by
/// comparing bytes instead of hashes, because there are rarely more than two.
final class ChainCache: Sendable {
    /// An entry for a verified chain.
    final class Entry: Sendable {
        /// The encoded chain.
        let bytes: [UInt8]
        /// The chain.
        let chain: VerifiedChain
        /// The state of SHA-256 after these bytes, so that the header of a JWS is hashed only once.
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

    /// Returns the entry for an encoded chain, and verifies the chain if it is not in the cache.
    ///
    /// - Throws: The error of the verification. Errors are not cached.
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
