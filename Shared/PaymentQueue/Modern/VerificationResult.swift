public import Foundation
import ReceiptValidation

/// A signed value with the result of its verification on this device.
///
/// The signature is verified offline against the roots of ``StoreConfiguration/receiptTrust``, by
/// the rules of `ReceiptValidation`. Without a `receiptTrust` every value is unverified.
public enum VerificationResult<SignedType: Sendable>: Sendable {
    /// The store did not sign the value, or not for this app. Do not trust it.
    case unverified(SignedType, VerificationError)
    /// The store signed the value for this app and environment.
    case verified(SignedType)

    /// The reason why a value is not verified.
    public enum VerificationError: LocalizedError, Hashable, Sendable, CaseIterable {
        /// A certificate was revoked. This case never occurs, because verification works offline.
        case revokedCertificate
        /// The certificates do not lead to a root that the app trusts, or the app trusts no root.
        case invalidCertificateChain
        /// The value belongs to another device. This case never occurs, because signed transactions
        /// name no device.
        case invalidDeviceVerification
        /// The value is not a JWS, or not in the form that stores sign.
        case invalidEncoding
        /// The signature is not the store's, or the value is for another app or environment.
        case invalidSignature
        /// The signed value lacks a required property.
        case missingRequiredProperties

        /// The reason as an English sentence.
        public var errorDescription: String? {
            switch self {
            case .revokedCertificate: "The certificate it was signed with was revoked."
            case .invalidCertificateChain: "Its certificates are not of a trusted store."
            case .invalidDeviceVerification: "It is of another device."
            case .invalidEncoding: "It is not in the form that a store signs."
            case .invalidSignature: "It was not signed by the store for this app."
            case .missingRequiredProperties: "It lacks something that it has to say."
            }
        }
    }

    /// The signed value, if it is verified.
    ///
    /// - Throws: ``VerificationError`` if it is not verified.
    public var payloadValue: SignedType {
        get throws {
            switch self {
            case .verified(let value): return value
            case .unverified(_, let error): throw error
            }
        }
    }

    /// The signed value, whether or not it is verified.
    public var unsafePayloadValue: SignedType {
        switch self {
        case .verified(let value), .unverified(let value, _): value
        }
    }
}

extension VerificationResult: Equatable where SignedType: Equatable {}
extension VerificationResult: Hashable where SignedType: Hashable {}

extension VerificationResult.VerificationError {
    /// Converts the violated rule to StoreKit's error.
    init(_ refusal: ReceiptRefusal) {
        switch refusal.rule {
        case .size, .form, .header: self = .invalidEncoding
        case .payload: self = .missingRequiredProperties
        case .chainLength, .certificate, .root, .issuer, .marker, .keyIdentifier, .authority,
            .criticalExtension, .key, .validity:
            self = .invalidCertificateChain
        // The other rules concern the algorithm, the signature and its audience.
        default: self = .invalidSignature
        }
    }
}

extension VerificationResult where SignedType == Transaction {
    /// The transaction as the store signed it: a JWS in compact form, to be sent to a server.
    public var jwsRepresentation: String { unsafePayloadValue.jws.text }
    /// The header of the JWS as JSON.
    public var headerData: Data { unsafePayloadValue.jws.header }
    /// The payload of the JWS as JSON.
    public var payloadData: Data { unsafePayloadValue.jws.payload }
    /// The bytes that the signature covers: header and payload in their encoded form.
    public var signedData: Data { unsafePayloadValue.jws.signed }
    /// The signature.
    ///
    /// It has 64 bytes.
    public var signatureData: Data { unsafePayloadValue.jws.signature }
    /// The date of the signature.
    public var signedDate: Date { unsafePayloadValue.signedDate }
}
