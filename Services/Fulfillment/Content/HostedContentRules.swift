import EventTypes
import Foundation

/// The rules for downloads, and for the digest of an upload.
///
/// Pure.
enum HostedContentRules {
    /// The reasons to refuse a download.
    enum Refusal: String, Hashable, Sendable, CaseIterable {
        /// The transaction does not exist, or it is somebody else's.
        ///
        /// Both must look the same.
        case unknown = "transaction_unknown"
        /// Only an unfinished transaction downloads (spec rule 118).
        ///
        /// After its finish, the buyer has to restore it to download again (spec rule 124).
        case finished = "transaction_finished"
        /// The store has not completed it yet.
        case purchasing = "transaction_purchasing"
        /// It waits for an approval.
        case deferred = "transaction_deferred"
        /// It was not paid.
        case failed = "transaction_failed"
        /// It was refunded.
        case revoked = "transaction_revoked"
        /// Only a newer version of the store can handle it (spec rule 41).
        case unknownState = "transaction_state_unknown"
        /// The transaction carries no content with that identifier.
        case noContent = "content_unknown"
    }

    /// The decision about a download.
    enum Decision: Hashable, Sendable {
        case download(HostedContent)
        case refused(Refusal)
    }

    /// Decides a download that is requested for a queue.
    ///
    /// - Parameters:
    ///   - identifier: The product id of the content.
    ///   - transaction: The transaction as the queue has it.
    ///   - contents: The contents that the transaction carries.
    ///   - queue: The queue that the request is authenticated for.
    /// - Returns: The content, or the reason for the refusal.
    static func download(
        _ identifier: ProductID,
        of transaction: QueuedTransaction?,
        carrying contents: [HostedContent],
        from queue: QueueKey
    ) -> Decision {
        guard let transaction, transaction.queue == queue else { return .refused(.unknown) }
        if transaction.finishedAt != nil { return .refused(.finished) }
        switch transaction.state {
        case .purchasing: return .refused(.purchasing)
        case .deferred: return .refused(.deferred)
        case .failed: return .refused(.failed)
        case .unknown: return .refused(.unknownState)
        case .purchased, .restored: break
        }
        if transaction.revokedAt != nil { return .refused(.revoked) }
        guard let content = contents.first(where: { $0.contentIdentifier == identifier }) else {
            return .refused(.noContent)
        }
        return .download(content)
    }

    /// The digest that a sender claims for its bytes.
    enum Claim: Hashable, Sendable {
        case none
        case digest(ContentDigest)
        /// The claim cannot be parsed, or contradicts itself.
        case malformed
    }

    /// Reads the digest that an upload claims.
    ///
    /// - Parameters:
    ///   - hexadecimal: The digest in the query, in upper or lower case.
    ///   - field: The header `Repr-Digest` of RFC 9530. Algorithms other than SHA-256 are ignored.
    /// - Returns: The claimed digest, if any.
    static func claim(hexadecimal: String?, field: String?) -> Claim {
        var claimed: Set<ContentDigest> = []
        if let hexadecimal {
            guard let digest = ContentDigest(rawValue: hexadecimal.lowercased()) else {
                return .malformed
            }
            claimed.insert(digest)
        }
        for entry in (field ?? "").split(separator: ",") {
            let parts = entry.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            guard parts.count == 2, trimmed(parts[0]).lowercased() == "sha-256" else { continue }
            let value = trimmed(parts[1])
            guard value.count > 2, value.hasPrefix(":"), value.hasSuffix(":"),
                let bytes = Data(base64Encoded: String(value.dropFirst().dropLast())),
                bytes.count == 32
            else { return .malformed }
            claimed.insert(ContentDigest(bytes: bytes))
        }
        guard claimed.count < 2 else { return .malformed }
        return claimed.first.map(Claim.digest) ?? .none
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: .whitespaces)
    }
}
