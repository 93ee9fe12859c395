public import Foundation
import ReceiptValidation

/// Something that the store has signed, with the outcome of its verification on this device.
///
/// The signature is verified without network against the roots of ``StoreConfiguration/receiptTrust``,
/// by the rules of `ReceiptValidation`. Without a `receiptTrust` nothing is verified.
public enum VerificationResult<SignedType: Sendable>: Sendable {
    /// The store did not sign it, or not for this app: believe nothing of it.
    case unverified(SignedType, VerificationError)
    /// The store signed it, for this app and environment.
    case verified(SignedType)

    /// Why something is not verified.
    public enum VerificationError: LocalizedError, Hashable, Sendable, CaseIterable {
        /// A certificate was revoked. Never given here: verification asks no network.
        case revokedCertificate
        /// The certificates do not lead to a root that the app trusts, or the app trusts none.
        case invalidCertificateChain
        /// It is of another device. Never given here: signed transactions name no device.
        case invalidDeviceVerification
        /// It is no JWS, or not one of the form that stores sign.
        case invalidEncoding
        /// The signature is not the store's, or it is for another app or environment.
        case invalidSignature
        /// What was signed lacks something that it has to say.
        case missingRequiredProperties

        /// What was found, in English.
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

    /// What was signed, if it is verified.
    ///
    /// - Throws: ``VerificationError`` if it is not.
    public var payloadValue: SignedType {
        get throws {
            switch self {
            case .verified(let value): return value
            case .unverified(_, let error): throw error
            }
        }
    }

    /// What it says, verified or not.
    public var unsafePayloadValue: SignedType {
        switch self {
        case .verified(let value), .unverified(let value, _): value
        }
    }
}

extension VerificationResult: Equatable where SignedType: Equatable {}
extension VerificationResult: Hashable where SignedType: Hashable {}

extension VerificationResult.VerificationError {
    /// The rule that was broken, as StoreKit names it.
    init(_ refusal: ReceiptRefusal) {
        switch refusal.rule {
        case .size, .form, .header: self = .invalidEncoding
        case .payload: self = .missingRequiredProperties
        case .chainLength, .certificate, .root, .issuer, .marker, .keyIdentifier, .authority,
            .criticalExtension, .key, .validity:
            self = .invalidCertificateChain
        // The algorithm, the signature, and whom it was signed for.
        default: self = .invalidSignature
        }
    }
}

extension VerificationResult where SignedType == Transaction {
    /// The transaction as the store signed it: a JWS in compact form, to be sent to a server.
    public var jwsRepresentation: String { unsafePayloadValue.jws.text }
    /// The header of the JWS, JSON.
    public var headerData: Data { unsafePayloadValue.jws.header }
    /// The payload of the JWS, JSON.
    public var payloadData: Data { unsafePayloadValue.jws.payload }
    /// What the signature is of: header and payload as they stand in the JWS.
    public var signedData: Data { unsafePayloadValue.jws.signed }
    /// The signature, 64 bytes.
    public var signatureData: Data { unsafePayloadValue.jws.signature }
    /// When the store signed it.
    public var signedDate: Date { unsafePayloadValue.signedDate }
}
