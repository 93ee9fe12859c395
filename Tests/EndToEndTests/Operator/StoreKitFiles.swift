import EventTypes
import Foundation
import PaymentQueue
import StoreTest
import Testing
import TestSupport

extension EndToEnd.PaymentQueues {
    /// The file that Xcode uses gives a sandbox its products and the behaviour of a test.
    @Suite(
        .serialized,
        .onlySandbox("It has the sandbox do what a test asks.")
    )
    struct StoreKitFiles {
        /// A file as Xcode 16 writes it.
        private static let file = """
            {
              "identifier" : "6F1C2A4B",
              "nonRenewingSubscriptions" : [],
              "products" : [
                { "productID" : "com.example.hat", "type" : "NonConsumable", "displayPrice" : "4.99",
                  "familyShareable" : false, "internalID" : "1", "referenceName" : "Hat",
                  "localizations" : [
                    { "locale" : "en_US", "displayName" : "Hat", "description" : "A hat." }] }
              ],
              "settings" : {
                "_askToBuyEnabled" : true, "_locale" : "en_US", "_storefront" : "USA",
                "_storeKitErrors" : [], "_timeRate" : 0, "_disableDialogs" : false
              },
              "subscriptionGroups" : [
                { "id" : "21500001", "name" : "21500001", "localizations" : [], "subscriptions" : [
                    { "productID" : "com.example.club", "type" : "RecurringSubscription",
                      "displayPrice" : "2.99", "familyShareable" : false, "groupNumber" : 1,
                      "internalID" : "2", "introductoryOffer" : null, "adHocOffers" : [],
                      "codeOffers" : [], "recurringSubscriptionPeriod" : "P1M",
                      "referenceName" : "Club", "subscriptionGroupID" : "21500001",
                      "localizations" : [
                        { "locale" : "en_US", "displayName" : "Club", "description" : "All." }] }] }
              ],
              "version" : { "major" : 4, "minor" : 0 }
            }
            """

        private func withFile(
            _ body: (StoreHarness, StoreTestSession, _ path: String) async throws -> Void
        ) async throws {
            try await withStore { store in
                let path = store.directory + "/Store.storekit"
                try Data(Self.file.utf8).write(to: URL(fileURLWithPath: path))
                let imported = try await store.counterfoil("products", "import", path)
                #expect(imported.output.contains("2 created"), "\(imported)")
                for name in ["com.example.hat", "com.example.club"] {
                    try await store.waitUntilSellable(ProductID(unchecked: name))
                }
                let session = StoreTestSession(
                    keys: try StoreTestKeys(
                        directory: store.keys.directory,
                        bundleID: StoreKeys.bundleID.rawValue
                    ),
                    addresses: StoreConfiguration.Addresses(
                        catalog: store.urls.catalog,
                        payments: store.urls.payments,
                        fulfillment: store.urls.fulfillment,
                        receipts: store.urls.receipts
                    )
                )
                try await body(store, session, path)
            }
        }

        @Test func theFilesSettingsDecideWhatAPurchaseDoes() async throws {
            try await withFile { _, session, _ in
                try await session.apply(StoreKitSettings(Data(Self.file.utf8)))
                SKPaymentQueue.configure(session.configuration)
                let hat = try #require(
                    try await PaymentQueue.Product.products(for: ["com.example.hat"]).first
                )
                guard case .pending = try await hat.purchase() else {
                    return #expect(Bool(false), "nobody was asked")
                }
                session.clearTransactions()
                SKPaymentQueue.configure(session.configuration)
                guard case .success(.verified(let bought)) = try await hat.purchase() else {
                    return #expect(Bool(false), "another account was asked, too")
                }
                try await bought.finish()
            }
        }

        @Test func theTestOfTheDocumentPasses() async throws {
            try await withFile { _, session, _ in
                SKPaymentQueue.configure(session.configuration)
                try await StoreTestSnippet.anUnpaidPeriodIsPaidLater(session)
            }
        }

        @Test func theCommandLineFollowsTheFile() async throws {
            try await withFile { store, session, path in
                let set = try await store.counterfoil(
                    "test",
                    "set",
                    session.account.rawValue,
                    "--storekit",
                    path
                )
                #expect(set.exit == .code(0), "\(set)")
                #expect(set.output.contains("taken: setting _askToBuyEnabled"), "\(set)")
                #expect(set.output.contains("ask to buy:            on"), "\(set)")
            }
        }
    }
}
