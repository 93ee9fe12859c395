import Foundation
import PaymentQueue
import Testing

/// The modern shape by Apple's documented names: types of their own, not the original ones renamed.
@Suite struct ModernSymbolTests {
    private typealias Result = VerificationResult<Transaction>

    private static var members: [String: Any] {
        [
            "Product.id": \Product.id,
            "Product.type": \Product.type as KeyPath<Product, Product.ProductType>,
            "Product.displayName": \Product.displayName,
            "Product.description": \Product.description,
            "Product.price": \Product.price as KeyPath<Product, Decimal>,
            "Product.displayPrice": \Product.displayPrice as KeyPath<Product, String>,
            "Product.priceFormatStyle": \Product.priceFormatStyle
                as KeyPath<Product, Decimal.FormatStyle.Currency>,
            "Product.isFamilyShareable": \Product.isFamilyShareable,
            "Product.products(for:)": { (ids: [String]) in
                try await Product.products(for: ids) as [Product]
            },
            "Product.purchase(options:)": { (product: Product) in
                try await product.purchase(options: [
                    .quantity(2), .appAccountToken(UUID()), .simulatesAskToBuyInSandbox(true),
                    .introductoryOfferEligibility(compactJWS: ""),
                ]) as Product.PurchaseResult
            },
            "Product.latestTransaction": { (product: Product) in
                try await product.latestTransaction as Result?
            },
            "Product.currentEntitlement": { (product: Product) in
                try await product.currentEntitlement as Result?
            },
            "Transaction.id": \Transaction.id as KeyPath<Transaction, UInt64>,
            "Transaction.originalID": \Transaction.originalID as KeyPath<Transaction, UInt64>,
            "Transaction.productID": \Transaction.productID,
            "Transaction.productType": \Transaction.productType
                as KeyPath<Transaction, Product.ProductType>,
            "Transaction.appBundleID": \Transaction.appBundleID,
            "Transaction.appAccountToken": \Transaction.appAccountToken
                as KeyPath<Transaction, UUID?>,
            "Transaction.purchaseDate": \Transaction.purchaseDate,
            "Transaction.originalPurchaseDate": \Transaction.originalPurchaseDate,
            "Transaction.expirationDate": \Transaction.expirationDate,
            "Transaction.isUpgraded": \Transaction.isUpgraded,
            "Transaction.subscriptionGroupID": \Transaction.subscriptionGroupID
                as KeyPath<Transaction, String?>,
            "Transaction.subscriptionStatus": { (transaction: Transaction) in
                try await transaction.subscriptionStatus as SubscriptionStatus?
            },
            "Transaction.offer": \Transaction.offer as KeyPath<Transaction, Transaction.Offer?>,
            "Transaction.purchasedQuantity": \Transaction.purchasedQuantity,
            "Transaction.price": \Transaction.price as KeyPath<Transaction, Decimal?>,
            "Transaction.currency": \Transaction.currency
                as KeyPath<Transaction, Locale.Currency?>,
            "Transaction.storefront": \Transaction.storefront as KeyPath<Transaction, Storefront?>,
            "Transaction.storefrontCountryCode": \Transaction.storefrontCountryCode,
            "Transaction.ownershipType": \Transaction.ownershipType
                as KeyPath<Transaction, Transaction.OwnershipType>,
            "Transaction.reason": \Transaction.reason as KeyPath<Transaction, Transaction.Reason>,
            "Transaction.beginRefundRequest(because:)": { (transaction: Transaction) in
                try await transaction.beginRefundRequest(because: .unintendedPurchase)
                    as Transaction.RefundRequestStatus
            },
            "Transaction.beginRefundRequest(for:because:)": { (id: UInt64) in
                try await Transaction.beginRefundRequest(for: id)
                    as Transaction.RefundRequestStatus
            },
            "Transaction.environment": \Transaction.environment
                as KeyPath<Transaction, AppStore.Environment>,
            "Transaction.revocationDate": \Transaction.revocationDate,
            "Transaction.revocationReason": \Transaction.revocationReason
                as KeyPath<Transaction, Transaction.RevocationReason?>,
            "Transaction.revocationType": \Transaction.revocationType
                as KeyPath<Transaction, Transaction.RevocationType?>,
            "Transaction.revocationPercentage": \Transaction.revocationPercentage
                as KeyPath<Transaction, Decimal?>,
            "Transaction.signedDate": \Transaction.signedDate,
            "Transaction.jsonRepresentation": \Transaction.jsonRepresentation
                as KeyPath<Transaction, Data>,
            "Transaction.debugDescription": \Transaction.debugDescription,
            "Transaction.finish()": { (transaction: Transaction) in
                try await transaction.finish()
            },
            "Transaction.latest(for:)": { (id: String) in
                try await Transaction.latest(for: id) as Result?
            },
            "Transaction.currentEntitlement(for:)": { (id: String) in
                try await Transaction.currentEntitlement(for: id) as Result?
            },
            "Transaction.currentEntitlements": {
                for try await result in Transaction.currentEntitlements { _ = result as Result }
            },
            "Transaction.all": {
                for try await result in Transaction.all { _ = result as Result }
            },
            "Transaction.unfinished": {
                for try await result in Transaction.unfinished { _ = result as Result }
            },
            "Transaction.updates": {
                for await result in Transaction.updates { _ = result as Result }
            },
            "VerificationResult.payloadValue": { (result: Result) in
                try result.payloadValue as Transaction
            },
            "VerificationResult.unsafePayloadValue": \Result.unsafePayloadValue,
            "VerificationResult.jwsRepresentation": \Result.jwsRepresentation,
            "VerificationResult.headerData": \Result.headerData,
            "VerificationResult.payloadData": \Result.payloadData,
            "VerificationResult.signedData": \Result.signedData,
            "VerificationResult.signatureData": \Result.signatureData,
            "VerificationResult.signedDate": \Result.signedDate,
            "AppStore.canMakePayments": { AppStore.canMakePayments },
            "AppStore.sync()": { try await AppStore.sync() },
        ]
    }

    /// The members that Apple documents and that need no offer, no device and no family.
    private static let documented: [String: [String]] = [
        "Product": [
            "id", "type", "displayName", "description", "price", "displayPrice",
            "priceFormatStyle", "isFamilyShareable", "products(for:)", "purchase(options:)",
            "latestTransaction", "currentEntitlement",
        ],
        "Transaction": [
            "id", "originalID", "productID", "productType", "appBundleID", "appAccountToken",
            "purchaseDate", "originalPurchaseDate", "purchasedQuantity", "price", "currency",
            "storefront", "storefrontCountryCode", "ownershipType", "reason", "environment",
            "revocationDate", "revocationReason", "revocationType", "revocationPercentage",
            "signedDate", "jsonRepresentation", "debugDescription", "finish()", "latest(for:)",
            "beginRefundRequest(because:)", "beginRefundRequest(for:because:)",
            "currentEntitlement(for:)", "currentEntitlements", "all", "unfinished", "updates",
            "expirationDate", "isUpgraded", "subscriptionGroupID", "subscriptionStatus", "offer",
        ],
        "VerificationResult": [
            "payloadValue", "unsafePayloadValue", "jwsRepresentation", "headerData", "payloadData",
            "signedData", "signatureData", "signedDate",
        ],
        "AppStore": ["canMakePayments", "sync()"],
    ]

    @Test func theModernTypesHaveEveryMemberThatIsDocumented() {
        let names = Self.documented.flatMap { type, members in members.map { "\(type).\($0)" } }
        #expect(Set(Self.members.keys) == Set(names))
    }

    @Test func theModernTypesAreNoAliases() {
        #expect(ObjectIdentifier(Product.self) != ObjectIdentifier(SKProduct.self))
        #expect(ObjectIdentifier(Transaction.self) != ObjectIdentifier(SKPaymentTransaction.self))
    }

    @Test func theWordsAreThoseOfSignedTransactions() {
        let types: [Product.ProductType] = [
            .consumable, .nonConsumable, .nonRenewable, .autoRenewable,
        ]
        #expect(
            types.map(\.rawValue) == [
                "Consumable", "Non-Consumable", "Non-Renewing Subscription",
                "Auto-Renewable Subscription",
            ]
        )
        #expect(Transaction.OwnershipType.familyShared.rawValue == "FAMILY_SHARED")
        #expect(Transaction.Reason.renewal.rawValue == "RENEWAL")
        #expect(Transaction.RevocationReason.developerIssue.rawValue == 1)
        #expect(Transaction.RevocationType.proratedRefund.rawValue == "REFUND_PRORATED")
        #expect(AppStore.Environment.production.rawValue == "Production")
        #expect(Result.VerificationError.allCases.count == 6)
    }
}
