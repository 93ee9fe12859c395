import EventTypes
import Messaging
import Postgres

/// The table of price consents.
///
/// Its rows are changed under the lock of their account (``AccountStore``).
enum PriceConsentStore {
    /// The newest consent of each product that accounts were asked about.
    static func newest(
        of keys: Set<AccountKey>,
        on connection: isolated PostgresConnection
    ) throws -> [AccountKey: [PriceConsent]] {
        guard !keys.isEmpty else { return [:] }
        let keys = Array(keys)
        let rows = try connection.query(
            """
            SELECT account_id, bundle_id, id, product_id, price, currency, status
            FROM unnest(\(keys.map(\.accountID)), \(keys.map(\.bundleID)))
                AS asked (account_id, bundle_id)
            JOIN price_consents USING (account_id, bundle_id)
            WHERE replaced_at IS NULL ORDER BY asked_at, id
            """
        )
        var consents: [AccountKey: [PriceConsent]] = [:]
        for row in rows {
            let (account, bundle, id, product, price, currency, status) = try row.decode(
                AccountID.self,
                BundleID.self,
                PriceConsentID.self,
                ProductID.self,
                Int64.self,
                Currency.self,
                String.self
            )
            consents[AccountKey(accountID: account, bundleID: bundle), default: []].append(
                PriceConsent(
                    id: id,
                    productID: product,
                    price: Money(minorUnits: price, currency: currency),
                    status: PriceConsentStatus(rawValue: status)
                )
            )
        }
        return consents
    }

    /// An account's answer to a question, and whether a later question has replaced it.
    static func find(
        _ id: PriceConsentID,
        of key: AccountKey,
        on connection: isolated PostgresConnection
    ) throws -> (status: PriceConsentStatus, isReplaced: Bool)? {
        guard
            let row = try connection.query(
                """
                SELECT status, replaced_at IS NOT NULL FROM price_consents
                WHERE id = \(id) AND account_id = \(key.accountID) AND bundle_id = \(key.bundleID)
                """
            ).first
        else { return nil }
        let (status, isReplaced) = try row.decode(String.self, Bool.self)
        return (PriceConsentStatus(rawValue: status), isReplaced)
    }

    /// Asks an account about a price; the question replaces an earlier one about the product.
    static func ask(
        _ consent: PriceConsent,
        of key: AccountKey,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE price_consents SET replaced_at = \(time)
            WHERE account_id = \(key.accountID) AND bundle_id = \(key.bundleID)
                AND product_id = \(consent.productID) AND replaced_at IS NULL
            """
        )
        try connection.execute(
            """
            INSERT INTO price_consents
                (id, account_id, bundle_id, product_id, price, currency, asked_at, status)
            VALUES (\(consent.id), \(key.accountID), \(key.bundleID), \(consent.productID),
                \(consent.price.minorUnits), \(consent.price.currency), \(time),
                \(consent.status.rawValue))
            """
        )
    }

    /// Records a subscriber's decision.
    static func decide(
        _ status: PriceConsentStatus,
        on id: PriceConsentID,
        at time: StoreTime,
        on connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            """
            UPDATE price_consents SET status = \(status.rawValue), decided_at = \(time)
            WHERE id = \(id) AND status = 'pending'
            """
        )
    }
}
