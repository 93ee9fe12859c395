import EventTypes
import Foundation
import ReceiptValidation

/// Prepares stored notifications for sending and for the history.
///
/// A notification signed with a former leaf is signed again, together with what is signed in it.
/// Recipients that check online use the present time, so they would refuse a leaf that has expired
/// or was revoked since. The UUID stays the same.
struct NotificationSigner: Sendable {
    let signer: ReceiptSigner
    let now: @Sendable () -> StoreTime

    /// Returns the compact form.
    ///
    /// - Throws: ``ReceiptsError`` if it has to be signed and this fails.
    func signedPayload(_ stored: StoredNotification) throws -> String {
        guard stored.leafSHA256 != signer.chain.leafSHA256 else {
            return NotificationText.signedPayload(
                header: stored.header,
                stored: stored.payload,
                signature: stored.signature
            )
        }
        let payload = NotificationText.payload(header: stored.header, stored: stored.payload)
        return try signer.compactJWS(of: try signedAgain(payload, at: now()))
    }

    /// Returns the payload with the present time, and with everything in it signed again.
    private func signedAgain(_ payload: [UInt8], at now: StoreTime) throws -> [UInt8] {
        var document = try object(payload)
        document["signedDate"] = now.millisecondsSinceEpoch
        if var event = document["data"] as? [String: Any] {
            if let jws = event["signedTransactionInfo"] as? String {
                let signed = try signer.signAgain(try content(of: jws), at: now)
                event["signedTransactionInfo"] = JWSSerialization.joined(
                    header: signer.chain.header,
                    payload: signed.payload,
                    signature: signed.signature
                )
            }
            if let jws = event["signedRenewalInfo"] as? String {
                var info = try object(try content(of: jws))
                info["signedDate"] = now.millisecondsSinceEpoch
                event["signedRenewalInfo"] = try signer.compactJWS(of: try bytes(info))
            }
            document["data"] = event
        }
        if var event = document["appData"] as? [String: Any] {
            if let jws = event["signedAppTransactionInfo"] as? String {
                var transaction = try object(try content(of: jws))
                transaction["receiptCreationDate"] = now.millisecondsSinceEpoch
                event["signedAppTransactionInfo"] = try signer.compactJWS(
                    of: try bytes(transaction)
                )
            }
            document["appData"] = event
        }
        return try bytes(document)
    }

    private func content(of jws: String) throws -> [UInt8] {
        let parts = jws.utf8.split(separator: UInt8(ascii: "."))
        guard parts.count == 3, let bytes = StrictBase64.decode(Array(parts[1])[...], .url) else {
            throw malformed
        }
        return bytes
    }

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        guard
            let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        else { throw malformed }
        return object
    }

    private func bytes(_ object: [String: Any]) throws -> [UInt8] {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try JSONSerialization.data(withJSONObject: object, options: options))
    }

    private var malformed: ReceiptsError {
        ReceiptsError(
            code: .storedReceiptMalformed,
            detail: "A stored notification cannot be read."
        )
    }
}
