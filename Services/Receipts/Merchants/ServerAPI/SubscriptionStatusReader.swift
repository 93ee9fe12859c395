import EventTypes
import Foundation
import Postgres

/// Reads subscriptions and signs their statuses, for their accounts and for merchants' servers.
struct SubscriptionStatusReader: Sendable {
    /// The status of a subscription at a moment, with what the store signs about it.
    struct Signed: Hashable, Sendable {
        /// The subscription in the state that it has at the moment.
        var subscription: Subscription
        /// The number of the state in Apple's interface.
        var status: Int
        /// The transaction of the newest period, in compact form.
        var transaction: String
        /// The renewal info, in compact form.
        var renewalInfo: String
    }

    let store: ServerAPIStore
    let client: PostgresClient
    let signer: ReceiptSigner
    let now: @Sendable () -> StoreTime

    /// Returns the statuses of an account's subscriptions in an app, the oldest first, and then of
    /// those that a family shares with it.
    ///
    /// A subscription whose newest period has no receipt yet is left out. It has one a moment later.
    ///
    /// - Throws: `PostgresError`; ``ReceiptsError`` if the certificates are not valid at present.
    func statuses(of owner: OwnerKey) async throws -> [Signed] {
        let time = now()
        let (found, winBacks) = try await client.withConnection { [store] connection in
            let own = try SubscriptionStatusStore.load(of: owner, on: connection).map {
                SubscriptionStatus.present($0, at: time)
            }
            let periods = try SharedPeriodStore.periods(of: owner, on: connection)
            let shared = SharedPeriod.counting(among: periods, at: time).map {
                $0.subscription(at: time)
            }
            let all = own.map { ($0, true) } + shared.map { ($0, false) }
            let found = try all.map { subscription, isOwn in
                (
                    subscription, isOwn,
                    try store.receipts([subscription.period.transactionID], on: connection).first
                )
            }
            return (found, try SubscriptionProductStore.winBacks(of: own, on: connection))
        }
        return try found.compactMap { present, isOwn, receipt in
            guard let receipt, let status = present.state.status else { return nil }
            let info = RenewalInfoPayload(
                present,
                of: try RenewalInfoPayload.Customer(payload: receipt.payload),
                // Whoever has not paid for a subscription is not won back.
                winBacks: isOwn ? winBacks : EligibleWinBacks(),
                environment: signer.environment,
                signedAt: time
            )
            return Signed(
                subscription: present,
                status: status,
                transaction: try signer.jws(of: receipt, at: time),
                renewalInfo: try signer.compactJWS(of: info.encoded())
            )
        }
    }
}

extension ReceiptSigner {
    /// Returns a stored receipt in compact form.
    ///
    /// One that was signed with a former leaf is signed again. Verifiers that check online use the
    /// present time, so they would refuse a leaf that has expired or was revoked since.
    ///
    /// - Throws: ``ReceiptsError`` if the certificates are not valid at present.
    func jws(of receipt: ServerAPIStore.StoredReceipt, at time: StoreTime) throws -> String {
        guard receipt.leafSHA256 != chain.leafSHA256 else {
            return JWSSerialization.joined(
                header: receipt.header,
                payload: receipt.payload,
                signature: receipt.signature
            )
        }
        let signed = try signAgain(receipt.payload, at: time)
        return JWSSerialization.joined(
            header: chain.header,
            payload: signed.payload,
            signature: signed.signature
        )
    }
}
