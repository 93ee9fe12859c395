import EventTypes
import Foundation

/// Who may download what, and what an upload has to be.
///
/// Pure.
enum HostedContentRules {
    /// Why nothing is downloaded.
    enum Refusal: String, Hashable, Sendable, CaseIterable {
        /// There is no such transaction, or it is somebody else's, which must look the same.
        case unknown = "transaction_unknown"
        /// Only an unfinished transaction downloads (spec rule 118); after its finish it takes a
        /// restore to download again (spec rule 124).
        case finished = "transaction_finished"
        /// The store is not done with it.
        case purchasing = "transaction_purchasing"
        /// It waits for an approval.
        case deferred = "transaction_deferred"
        /// It was not paid.
        case failed = "transaction_failed"
        /// It was paid back.
        case revoked = "transaction_revoked"
        /// A newer version of the store knows what to do with it (spec rule 41).
        case unknownState = "transaction_state_unknown"
        /// The transaction carries no content of that identifier.
        case noContent = "content_unknown"
    }

    /// What a wish to download comes to.
    enum Decision: Hashable, Sendable {
        case download(HostedContent)
        case refused(Refusal)
    }

    /// Decides a download that comes from a queue's account and app.
    ///
    /// - Parameters:
    ///   - identifier: Which content.
    ///   - transaction: What the queue knows of the transaction.
    ///   - contents: What the transaction carries.
    ///   - queue: The queue that the request speaks for.
    /// - Returns: The content, or why there is none.
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

    /// What a sender says the digest of its bytes is.
    enum Claim: Hashable, Sendable {
        case none
        case digest(ContentDigest)
        /// What was said cannot be understood, or contradicts itself.
        case malformed
    }

    /// Reads the digest that an upload claims.
    ///
    /// - Parameters:
    ///   - hexadecimal: Of the query, in either case.
    ///   - field: The header `Repr-Digest` of RFC 9530; algorithms other than SHA-256 are ignored.
    /// - Returns: The digest, if there is one.
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
