import EventTypes
import Messaging
import Postgres
import StoreAPI

/// The SQL of receipts: a few statements for a whole batch, however many rows it has.
struct ReceiptStore: Sendable {
    /// Records when transactions were finished.
    ///
    /// A finish that is already recorded stays as it is.
    func recordFinishes(
        _ finishes: [TransactionID: StoreTime],
        on connection: isolated PostgresConnection
    ) throws {
        let finishes = finishes.sorted { $0.key < $1.key }
        try connection.enqueue(
            """
            INSERT INTO transaction_finishes (transaction_id, finished_at)
            SELECT * FROM unnest(\(finishes.map(\.key.number)), \(finishes.map(\.value)))
            ON CONFLICT (transaction_id) DO NOTHING
            """
        )
    }

    /// Stores receipts.
    ///
    /// The first of a transaction is inserted, a later revision replaces an earlier one, and an
    /// earlier one changes nothing.
    ///
    /// Notifications depend on what changed here, not on which were sent before. So an event that
    /// arrives again after years causes none.
    func save(
        _ signed: [SignedTransaction],
        chain: SigningChain,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> SavedReceipts {
        let chainNumber = try number(of: chain, at: now, on: connection)
        let added = try add(signed, chainNumber: chainNumber, on: connection)
        guard added.count < signed.count else { return SavedReceipts(issued: added) }
        let known = signed.filter { !added.contains($0.transaction.id) }
        return SavedReceipts(
            issued: added,
            replaced: try replace(known, chainNumber: chainNumber, on: connection)
        )
    }

    /// Returns the receipt of a transaction, assembled from its parts.
    ///
    /// `owner` is the account that the receipt has to belong to, or `nil` for an administrator. The
    /// result is `nil` if there is no receipt, or it belongs to somebody else.
    func receipt(
        of transaction: TransactionID,
        owner: (account: AccountID, bundle: BundleID)?,
        on connection: isolated PostgresConnection
    ) throws -> ReceiptResponse? {
        let rows = try connection.query(
            """
            SELECT chain.header, receipt.payload, receipt.signature,
                   owner.account_id, owner.bundle_id, receipt.reason
            FROM signed_transactions AS receipt
            JOIN signing_chains AS chain ON chain.number = receipt.signing_chain
            JOIN app_transactions AS owner USING (app_transaction_id)
            WHERE receipt.transaction_id = \(transaction.number)
            """
        )
        guard let row = rows.first else { return nil }
        let (header, payload, signature, account, bundle, reason) = try row.decode(
            String.self,
            [UInt8].self,
            [UInt8].self,
            AccountID.self,
            BundleID.self,
            String.self
        )
        if let owner, owner.account != account || owner.bundle != bundle {
            return nil
        }
        return ReceiptResponse(
            signedTransaction: JWSSerialization.joined(
                header: header,
                payload: try PackedPayload.unpacked(payload),
                signature: signature
            ),
            orderId: TransactionReason(rawValue: reason).order(of: transaction)?.rawValue
        )
    }

    /// Returns the number of a certificate chain, which is stored when the first receipt is signed
    /// with it.
    func number(
        of chain: SigningChain,
        at now: StoreTime,
        on connection: isolated PostgresConnection
    ) throws -> Int32 {
        let find: SQL = """
            SELECT number FROM signing_chains WHERE leaf_sha256 = \(chain.leafSHA256)
            """
        if let row = try connection.query(find).first {
            return try row.decode(Int32.self)
        }
        try connection.execute(
            """
            INSERT INTO signing_chains (leaf_sha256, header, first_used_at)
            VALUES (\(chain.leafSHA256), \(chain.header), \(now))
            ON CONFLICT (leaf_sha256) DO NOTHING
            """
        )
        // The row exists now: either this statement or another replica has inserted it.
        guard let row = try connection.query(find).first else {
            throw ReceiptsError(
                code: .signingChainMissing,
                detail: "The signing chain \(chain.id) was stored and is not there."
            )
        }
        return try row.decode(Int32.self)
    }

    /// Inserts receipts of transactions that have none, and returns these transactions.
    func add(
        _ signed: [SignedTransaction],
        chainNumber: Int32,
        on connection: isolated PostgresConnection
    ) throws -> Set<TransactionID> {
        // Most batches have one value of each of these.
        let times = signed.map(\.signedAt)
        let revisions = signed.map(\.revision)
        let reasons = signed.map(\.transaction.reason.rawValue)
        let types = signed.map(\.transaction.productType.rawValue)
        let rows = try connection.query(
            """
            INSERT INTO signed_transactions (
                transaction_id, original_transaction_id, app_transaction_id, history_position,
                purchased_at, revoked_at, signed_at, revision, signing_chain, reason, product_id,
                product_type, standing_refunds, reversed_refunds, payload, signature
            )
            SELECT new.transaction_id, new.original_transaction_id, new.app_transaction_id,
                   new.history_position, new.purchased_at, new.revoked_at,
                   coalesce(new.signed_at, \(ifEqual: times)),
                   coalesce(new.revision, \(ifEqual: revisions)), \(chainNumber),
                   coalesce(new.reason, \(ifEqual: reasons)), new.product_id,
                   coalesce(new.product_type, \(ifEqual: types)),
                   new.standing_refunds::integer[], new.reversed_refunds::integer[], new.payload,
                   new.signature
            FROM unnest(
                \(signed.map(\.transaction.id.number)),
                \(signed.map(\.transaction.originalID.number)),
                \(signed.map(\.context.appTransactionID)),
                \(signed.map(\.context.historyPosition)),
                \(signed.map(\.purchasedAt)),
                \(padded: signed.map(\.transaction.revokedAt)),
                \(unlessEqual: times),
                \(unlessEqual: revisions),
                \(unlessEqual: reasons),
                \(signed.map(\.transaction.productID)),
                \(unlessEqual: types),
                \(padded: signed.map(\.refunds.standingText)),
                \(padded: signed.map(\.refunds.reversedText)),
                \(signed.map(\.packedPayload)),
                \(signed.map(\.signature))
            ) AS new (
                transaction_id, original_transaction_id, app_transaction_id, history_position,
                purchased_at, revoked_at, signed_at, revision, reason, product_id, product_type,
                standing_refunds, reversed_refunds, payload, signature
            )
            ON CONFLICT (transaction_id) DO NOTHING
            RETURNING transaction_id
            """
        )
        var added: Set<TransactionID> = []
        for row in rows {
            added.insert(TransactionID(number: try row.decode(Int64.self)))
        }
        return added
    }

    /// Replaces earlier revisions of receipts with later ones.
    ///
    /// - Returns: The transactions whose receipts were replaced, with their refunds until then.
    @discardableResult
    func replace(
        _ signed: [SignedTransaction],
        chainNumber: Int32,
        on connection: isolated PostgresConnection
    ) throws -> [TransactionID: RefundNumbers] {
        // No row changes between the two statements, because its account's history is locked.
        let rows = try connection.query(
            """
            UPDATE signed_transactions AS receipt
            SET revoked_at = new.revoked_at, standing_refunds = new.standing_refunds::integer[],
                reversed_refunds = new.reversed_refunds::integer[], signed_at = new.signed_at,
                revision = new.revision, signing_chain = \(chainNumber), payload = new.payload,
                signature = new.signature, history_position = new.history_position
            FROM unnest(
                \(signed.map(\.transaction.id.number)),
                \(signed.map(\.transaction.revokedAt)),
                \(signed.map(\.refunds.standingText)),
                \(signed.map(\.refunds.reversedText)),
                \(signed.map(\.signedAt)),
                \(signed.map(\.revision)),
                \(signed.map(\.packedPayload)),
                \(signed.map(\.signature)),
                \(signed.map(\.context.historyPosition))
            ) AS new (
                transaction_id, revoked_at, standing_refunds, reversed_refunds, signed_at, revision,
                payload, signature, history_position
            ) JOIN signed_transactions AS before USING (transaction_id)
            WHERE receipt.transaction_id = new.transaction_id
              AND receipt.revision < new.revision
            RETURNING receipt.transaction_id, before.standing_refunds, before.reversed_refunds
            """
        )
        var replaced: [TransactionID: RefundNumbers] = [:]
        for row in rows {
            let (number, standing, reversed) = try row.decode(
                Int64.self,
                [Int32]?.self,
                [Int32]?.self
            )
            replaced[TransactionID(number: number)] = RefundNumbers(
                standing: Set(standing ?? []),
                reversed: Set(reversed ?? [])
            )
        }
        return replaced
    }
}

extension SignedTransaction {
    /// The transaction's version, which decides between two receipts of one transaction.
    fileprivate var revision: Int32 { Int32(clamping: transaction.version) }

    fileprivate var refunds: RefundNumbers { RefundNumbers(of: transaction) }

    fileprivate var packedPayload: [UInt8] { PackedPayload.packed(payload) }
}

extension RefundNumbers {
    /// The refunds that are not reversed, as the text of an array, or `nil` if there is none.
    fileprivate var standingText: String? { Self.text(standing) }

    /// The reversed refunds as the text of an array, or `nil` if there is none.
    fileprivate var reversedText: String? { Self.text(reversed) }

    private static func text(_ numbers: Set<Int32>) -> String? {
        guard !numbers.isEmpty else { return nil }
        return "{\(numbers.sorted().map { String($0) }.joined(separator: ","))}"
    }
}
