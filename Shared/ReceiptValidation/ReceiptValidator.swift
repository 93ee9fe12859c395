import Crypto
import Foundation

/// Verifies that signed data comes from the app's own store and is for this app.
///
/// It works offline, without a clock, and with only pinned root certificates.
///
/// It enforces every rule that tests of Apple's verifier revealed. Some of its rules are stricter.
/// The third certificate must itself be a pinned root. Base64 and DER each have only one accepted
/// form. Data of `Xcode` or `LocalTesting` is refused, because Apple's verifiers do not check its
/// signature. Certificates are checked at the date of the signature, so signed data stays valid
/// after the leaf certificate has expired.
///
/// A validator can be used from any thread. It caches verified chains (at most 16), so that data
/// with a known chain costs little more than one P-256 signature check.
public struct ReceiptValidator: Sendable {
    /// The maximum length of a JWS in bytes.
    ///
    /// A notification with two signed payloads has 20 KB.
    public static let jwsLengthMax = 256 << 10
    /// The maximum size of an app receipt in bytes.
    ///
    /// A receipt with 5,000 purchases has 900 KB.
    public static let appReceiptLengthMax = 2 << 20

    /// The trusted roots, app and environment.
    public let trust: ReceiptTrust
    private let chains = ChainCache()

    /// Makes a validator.
    public init(_ trust: ReceiptTrust) { self.trust = trust }

    /// Verifies a JWS and decodes its payload.
    ///
    /// - Parameters:
    ///   - jws: The JWS in compact form.
    ///   - type: The type of the payload: ``JWSTransaction``, ``JWSRenewalInfo``,
    ///     ``JWSAppTransaction``, ``JWSNotification``, or a type of your own.
    /// - Returns: The decoded payload.
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

    /// Verifies an app receipt and decodes its contents.
    ///
    /// - Parameters:
    ///   - bytes: The PKCS#7 in DER.
    ///   - deviceID: The bytes of the device identifier in the request for the receipt; `nil` skips
    ///     the check of the device.
    /// - Returns: The contents. The receipt may have expired: see ``AppReceipt/isExpired(at:)``.
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
            throw ReceiptRefusal(.payload, "the signed payload is not a \(type)")
        }
    }
}
