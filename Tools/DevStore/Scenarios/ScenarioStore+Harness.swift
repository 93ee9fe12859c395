import EventTypes
import Foundation
import PaymentQueue
import Postgres
import Scenarios
import StoreAPI
import StoreHarness

extension ScenarioStore {
    /// A store of this machine, which meets every need.
    init(of store: StoreHarness, merchant: HarnessMerchant, faults: HarnessFaults) {
        let urls = store.urls
        self.init(
            addresses: StoreConfiguration.Addresses(
                catalog: urls.catalog,
                payments: faults.payments.url,
                fulfillment: faults.fulfillment.url,
                receipts: urls.receipts
            ),
            bundleID: StoreKeys.bundleID,
            accountToken: { try store.keys.token(account: $0) },
            administratorToken: { try store.keys.administratorToken() }
        )
        self.merchant = merchant
        self.faults = faults
        hasClock = true
        signOffer = { offer, product in
            let signed = try store.keys.discount(OfferID(unchecked: offer), of: product)
            guard let nonce = signed.nonce.flatMap({ UUID(uuidString: $0) }),
                let keyID = signed.keyIdentifier, let signature = signed.signature,
                let timestamp = signed.timestamp
            else { throw HarnessError("The offer \(offer) was not signed.") }
            return SKPaymentDiscount(
                identifier: offer,
                keyIdentifier: keyID,
                nonce: nonce,
                signature: signature,
                timestamp: timestamp
            )
        }
        ledger = { try await store.ledgerSums(of: $0) }
    }
}

extension StoreHarness {
    /// The sum of a transaction's entries in the ledger, by account.
    fileprivate func ledgerSums(of id: TransactionID) async throws -> [String: Int64] {
        let number = id.number
        return try await withDatabase(of: .payments) { connection in
            let rows = try connection.query(
                """
                SELECT account, sum(amount)::bigint FROM ledger_entries
                WHERE transaction_id = \(number) GROUP BY account
                """
            ).map { row in try row.decode(String.self, Int64.self) }
            return Dictionary(uniqueKeysWithValues: rows)
        }
    }
}
