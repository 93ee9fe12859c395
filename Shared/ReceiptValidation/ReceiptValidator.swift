import Crypto
import Foundation

/// Tells whether signed data comes from the store that an app trusts, for this app: without network,
/// without a clock, with nothing but pinned root certificates.
///
/// It keeps every rule that Apple's verifier was measured to keep, and is stricter where that costs
/// nothing: the third certificate has to be a pinned root itself, base64 and DER have one form each,
/// and data of `Xcode` or `LocalTesting`, whose signature Apple's verifiers do not look at, is refused.
/// The certificates are checked at the moment of the signature, so that what was signed with a leaf
/// that has expired since stays valid.
///
/// A validator may be used from any thread. It remembers the chains it has verified (at most 16), so
/// that data under a known chain costs one P-256 signature check and little more.
public struct ReceiptValidator: Sendable {
    /// The longest JWS that is looked at, in bytes.
    ///
    /// A notification that carries two signed payloads has 20 KB.
    public static let jwsLengthMax = 256 << 10
    /// The largest app receipt that is looked at, in bytes.
    ///
    /// One with 5,000 purchases has 900 KB.
    public static let appReceiptLengthMax = 2 << 20

    /// Whom to believe.
    public let trust: ReceiptTrust
    private let chains = ChainCache()

    /// Makes a validator.
    public init(_ trust: ReceiptTrust) { self.trust = trust }

    /// Reads a JWS that the store signed.
    ///
    /// - Parameters:
    ///   - jws: The compact form.
    ///   - type: What it holds: ``JWSTransaction``, ``JWSRenewalInfo``, ``JWSAppTransaction``,
    ///     ``JWSNotification``, or a type of your own.
    /// - Returns: What was signed.
    /// - Throws: ``ReceiptRefusal``.
    public func verify<Payload: SignedPayload>(
        _ jws: String,
        as type: Payload.Type = Payload.self
    ) throws(ReceiptRefusal) -> Payload {
        guard jws.utf8.count <= Self.jwsLengthMax else {
            throw ReceiptRefusal(.size, "a JWS has at most \(Self.jwsLengthMax) bytes")
        }
        let document = try CompactJWS(jws)
        let known = try chains.entry(for: document.header) { () throws(ReceiptRefusal) in
            try CertificateChain.verify(
                try document.certificates(),
                roots: trust.roots
            )
        }
        var hash = known.hash
        hash.update(data: document.payloadAfterDot)
        guard known.chain.key.isValidSignature(try document.signature(), for: hash.finalize())
        else {
            throw ReceiptRefusal(.signature, "the signature is not of the leaf under this data")
        }
        let payload = try decode(type, from: try document.payload())
        let claims = payload.claims
        try known.chain.requireValid(at: claims.signedAt)
        try trust.check(claims)
        return payload
    }

    /// Reads an app receipt that the store signed.
    ///
    /// - Parameters:
    ///   - bytes: The PKCS#7 in DER.
    ///   - deviceID: The bytes that the receipt was asked for with, to make sure that it is this
    ///     device's; `nil` leaves that open.
    /// - Returns: What the receipt says. It may have expired: see ``AppReceipt/isExpired(at:)``.
    /// - Throws: ``ReceiptRefusal``.
    public func appReceipt(
        _ bytes: some Collection<UInt8>,
        deviceID: [UInt8]? = nil
    ) throws(ReceiptRefusal) -> AppReceipt {
        guard bytes.count <= Self.appReceiptLengthMax else {
            throw ReceiptRefusal(.size, "a receipt has at most \(Self.appReceiptLengthMax) bytes")
        }
        let envelope = try ReceiptEnvelope(Array(bytes))
        let known = try chains.entry(for: envelope.certificates) { () throws(ReceiptRefusal) in
            try CertificateChain.verify(
                try envelope.chain(roots: trust.roots),
                roots: trust.roots
            )
        }
        try envelope.requireSigner(known.chain)
        guard
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: envelope.signature),
            known.chain.key.isValidSignature(signature, for: envelope.content)
        else {
            throw ReceiptRefusal(.signature, "the signature is not of the leaf under this receipt")
        }
        let receipt = try AppReceipt(content: envelope.content)
        try known.chain.requireValid(at: receipt.createdAt)
        try trust.check(environment: receipt.environment.rawValue)
        try trust.check(bundleID: receipt.bundleID)
        if let deviceID, !receipt.isOf(deviceID: deviceID) {
            throw ReceiptRefusal(.device, "it was made for another device")
        }
        return receipt
    }

    private func decode<Payload: Decodable>(
        _ type: Payload.Type,
        from bytes: [UInt8]
    ) throws(ReceiptRefusal) -> Payload {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        do {
            return try decoder.decode(type, from: Data(bytes))
        } catch {
            throw ReceiptRefusal(.payload, "what was signed is not a \(type)")
        }
    }
}
