import Crypto
import EventTypes
import Foundation

/// A transaction with the receipt that was signed for it.
struct SignedTransaction: Hashable, Sendable {
    /// The transaction as it was signed.
    let transaction: Transaction
    /// The time at which the charge was confirmed or the restore made.
    let purchasedAt: StoreTime
    /// The time of the signature in the receipt.
    let signedAt: StoreTime
    /// The bytes that were signed, before base64url.
    let payload: [UInt8]
    /// The signature: r and s, 32 bytes each.
    let signature: [UInt8]
    /// The data that `receipts` itself has on the transaction.
    let context: SigningContext

    /// SHA-256 of the payload, in hexadecimal.
    var payloadSHA256: String { hexadecimalSHA256(of: payload) }
}

/// A signed payload with its signature and the time of the signature.
struct SignedContent: Hashable, Sendable {
    let payload: [UInt8]
    let signature: [UInt8]
    let signedAt: StoreTime

    /// SHA-256 of the payload, in hexadecimal.
    var payloadSHA256: String { hexadecimalSHA256(of: payload) }
}

/// Returns the SHA-256 of bytes, in hexadecimal.
func hexadecimalSHA256(of bytes: [UInt8]) -> String {
    let digits = StaticString("0123456789abcdef")
    let hash = SHA256.hash(data: bytes)
    return String(unsafeUninitializedCapacity: 2 * SHA256.byteCount) { buffer in
        var position = 0
        for byte in hash {
            buffer[position] = digits.utf8Start[Int(byte >> 4)]
            buffer[position + 1] = digits.utf8Start[Int(byte & 0xF)]
            position += 2
        }
        return position
    }
}

/// Signs transactions with the key of one chain: ES256, about 20 µs each.
///
/// It signs one after the other on the calling thread. A batch of 500 takes 10 ms, and the other
/// core is left to PostgreSQL. It uses no network. The date in a receipt is store time and comes as
/// an argument; the certificates are valid or not by the machines' clock.
struct ReceiptSigner: Sendable {
    /// The chain whose key signs.
    let chain: SigningChain
    /// The environment in every receipt.
    let environment: StoreEnvironment
    private let machineNow: @Sendable () -> MachineTime
    /// The state of the hash after everything before the payload.
    ///
    /// The header is 3 KB of the 4 KB that are hashed for a signature. So it is hashed once, and
    /// the state is copied.
    private let prefix: SHA256

    /// Creates a signer.
    init(
        chain: SigningChain,
        environment: StoreEnvironment,
        machineNow: @escaping @Sendable () -> MachineTime
    ) {
        self.chain = chain
        self.environment = environment
        self.machineNow = machineNow
        var prefix = SHA256()
        prefix.update(data: Array(chain.header.utf8) + [UInt8(ascii: ".")])
        self.prefix = prefix
    }

    /// Signs one transaction.
    ///
    /// - Throws: ``ReceiptsError`` if the transaction cannot have a receipt, or if the certificates
    ///   are not valid at present.
    func sign(
        _ transaction: Transaction,
        _ context: SigningContext = SigningContext(),
        at now: StoreTime
    ) throws -> SignedTransaction {
        let content = try SignedTransactionPayload(
            transaction,
            context,
            environment: environment,
            signedAt: now
        )
        let payload = content.encoded()
        return SignedTransaction(
            transaction: transaction,
            purchasedAt: content.purchaseDate,
            signedAt: content.signedDate,
            payload: payload,
            signature: try signature(of: payload),
            context: context
        )
    }

    /// Signs a payload again, with the present time and chain.
    ///
    /// - Parameters:
    ///   - payload: The payload that was signed before.
    ///   - token: The new account token, or `nil` to keep the present one.
    ///   - isUpgraded: Whether an upgrade has ended the transaction's period since.
    ///   - now: The time.
    /// - Returns: The new payload and signature.
    /// - Throws: ``ReceiptsError`` as ``sign(_:_:at:)``, or if the bytes are not a payload.
    func signAgain(
        _ payload: [UInt8],
        appAccountToken token: String? = nil,
        isUpgraded: Bool = false,
        at now: StoreTime
    ) throws -> SignedContent {
        let content = try SignedTransactionPayload(
            again: payload,
            appAccountToken: token,
            isUpgraded: isUpgraded,
            at: now
        )
        let payload = content.encoded()
        return SignedContent(
            payload: payload,
            signature: try signature(of: payload),
            signedAt: content.signedDate
        )
    }

    /// Signs a payload of any kind, in compact form.
    ///
    /// - Parameter payload: JSON.
    /// - Returns: Header, payload and signature.
    /// - Throws: ``ReceiptsError`` if the certificates are not valid at present.
    func compactJWS(of payload: [UInt8]) throws -> String {
        JWSSerialization.joined(
            header: chain.header,
            payload: payload,
            signature: try signature(of: payload)
        )
    }

    /// Signs a payload.
    ///
    /// - Returns: r and s, 32 bytes each.
    /// - Throws: ``ReceiptsError`` if the certificates are not valid at present.
    func signature(of payload: [UInt8]) throws -> [UInt8] {
        let now = machineNow()
        guard chain.isValid(at: now) else {
            throw ReceiptsError(
                code: .chainNotValid,
                detail: "The signing chain is valid from \(chain.validFrom) to "
                    + "\(chain.validUntil), not at \(now). Put a valid key and "
                    + "chain into SIGNING_KEY_FILE and SIGNING_CHAIN_FILE and restart."
            )
        }
        var hash = prefix
        hash.update(data: StrictBase64.encode(payload))
        return Array(try chain.privateKey.signature(for: hash.finalize()).rawRepresentation)
    }
}
