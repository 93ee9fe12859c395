import Foundation
import PaymentQueue
import Testing

/// Every symbol of the original API that its reference and its articles name is here.
///
/// A symbol that is missing does not compile; one that is not in the list is found by the count of
/// the reference's own list.
@Suite struct ReferenceSymbolTests {
    private typealias Queue = SKPaymentQueue

    /// The members of `SKPaymentQueue`, as the reference lists them.
    private static var queueMembers: [String: Any] {
        [
            "canMakePayments()": Queue.canMakePayments,
            "default()": Queue.default,
            "storefront": \Queue.storefront,
            "delegate": \Queue.delegate,
            "add(_: SKPaymentTransactionObserver)": Queue.add
                as (Queue) -> (any SKPaymentTransactionObserver) -> Void,
            "remove(_:)": Queue.remove,
            "transactionObservers": \Queue.transactionObservers,
            "add(_: SKPayment)": Queue.add as (Queue) -> (SKPayment) -> Void,
            "transactions": \Queue.transactions,
            "finishTransaction(_:)": Queue.finishTransaction,
            "start(_:)": { (queue: any Downloading) in queue.start([]) },
            "cancel(_:)": { (queue: any Downloading) in queue.cancel([]) },
            "pause(_:)": { (queue: any Downloading) in queue.pause([]) },
            "resume(_:)": { (queue: any Downloading) in queue.resume([]) },
            "showPriceConsentIfNeeded()": Queue.showPriceConsentIfNeeded,
            "presentCodeRedemptionSheet()": Queue.presentCodeRedemptionSheet,
            "restoreCompletedTransactions()": Queue.restoreCompletedTransactions
                as (Queue) -> () -> Void,
            "restoreCompletedTransactions(withApplicationUsername:)":
                Queue.restoreCompletedTransactions(withApplicationUsername:),
        ]
    }

    /// The members of the other types of the original API, as far as the store has them.
    private static var originalMembers: [String: Any] {
        [
            "SKPaymentTransaction.transactionState": \SKPaymentTransaction.transactionState,
            "SKPaymentTransaction.transactionIdentifier":
                \SKPaymentTransaction.transactionIdentifier,
            "SKPaymentTransaction.transactionDate": \SKPaymentTransaction.transactionDate,
            "SKPaymentTransaction.error": \SKPaymentTransaction.error,
            "SKPaymentTransaction.original": \SKPaymentTransaction.original,
            "SKPaymentTransaction.payment": \SKPaymentTransaction.payment,
            "SKPaymentTransaction.transactionReceipt": {
                (transaction: SKPaymentTransaction) in try await transaction.transactionReceipt
            },
            "SKPayment.init(product:)": SKPayment.init(product:),
            "SKPayment.productIdentifier": \SKPayment.productIdentifier,
            "SKPayment.quantity": \SKPayment.quantity,
            "SKPayment.applicationUsername": \SKPayment.applicationUsername,
            "SKMutablePayment.quantity": \SKMutablePayment.quantity
                as ReferenceWritableKeyPath<SKMutablePayment, Int>,
            "SKMutablePayment.simulatesAskToBuyInSandbox":
                \SKMutablePayment.simulatesAskToBuyInSandbox
                as ReferenceWritableKeyPath<SKMutablePayment, Bool>,
            "SKMutablePayment.paymentDiscount": \SKMutablePayment.paymentDiscount
                as ReferenceWritableKeyPath<SKMutablePayment, SKPaymentDiscount?>,
            "SKPaymentDiscount.identifier": \SKPaymentDiscount.identifier,
            "SKPaymentDiscount.keyIdentifier": \SKPaymentDiscount.keyIdentifier,
            "SKPaymentDiscount.nonce": \SKPaymentDiscount.nonce,
            "SKPaymentDiscount.signature": \SKPaymentDiscount.signature,
            "SKPaymentDiscount.timestamp": \SKPaymentDiscount.timestamp,
            "SKProduct.productIdentifier": \SKProduct.productIdentifier,
            "SKProduct.localizedTitle": \SKProduct.localizedTitle,
            "SKProduct.localizedDescription": \SKProduct.localizedDescription,
            "SKProduct.price": \SKProduct.price as KeyPath<SKProduct, Decimal>,
            "SKProduct.priceLocale": \SKProduct.priceLocale as KeyPath<SKProduct, Locale>,
            "SKProduct.isFamilyShareable": \SKProduct.isFamilyShareable,
            "SKProduct.subscriptionGroupIdentifier": \SKProduct.subscriptionGroupIdentifier,
            "SKProduct.subscriptionPeriod": \SKProduct.subscriptionPeriod,
            "SKProduct.introductoryPrice": \SKProduct.introductoryPrice
                as KeyPath<SKProduct, SKProductDiscount?>,
            "SKProduct.discounts": \SKProduct.discounts as KeyPath<SKProduct, [SKProductDiscount]>,
            "SKProductDiscount.identifier": \SKProductDiscount.identifier
                as KeyPath<SKProductDiscount, String?>,
            "SKProductDiscount.type": \SKProductDiscount.type
                as KeyPath<SKProductDiscount, SKProductDiscount.`Type`>,
            "SKProductDiscount.price": \SKProductDiscount.price
                as KeyPath<SKProductDiscount, Decimal>,
            "SKProductDiscount.priceLocale": \SKProductDiscount.priceLocale,
            "SKProductDiscount.paymentMode": \SKProductDiscount.paymentMode
                as KeyPath<SKProductDiscount, SKProductDiscount.PaymentMode>,
            "SKProductDiscount.numberOfPeriods": \SKProductDiscount.numberOfPeriods,
            "SKProductDiscount.subscriptionPeriod": \SKProductDiscount.subscriptionPeriod
                as KeyPath<SKProductDiscount, SKProductSubscriptionPeriod>,
            "SKProductSubscriptionPeriod.numberOfUnits":
                \SKProductSubscriptionPeriod.numberOfUnits,
            "SKProductSubscriptionPeriod.unit": \SKProductSubscriptionPeriod.unit,
            "SKProduct.isDownloadable": \SKProduct.isDownloadable,
            "SKProduct.downloadContentLengths": \SKProduct.downloadContentLengths,
            "SKProduct.downloadContentVersion": \SKProduct.downloadContentVersion,
            "SKProductsRequest.init(productIdentifiers:)": SKProductsRequest.init(
                productIdentifiers:
            ),
            "SKProductsRequest.delegate": \SKProductsRequest.delegate,
            "SKProductsRequest.start()": SKProductsRequest.start,
            "SKProductsRequest.cancel()": SKProductsRequest.cancel,
            "SKProductsResponse.products": \SKProductsResponse.products,
            "SKProductsResponse.invalidProductIdentifiers":
                \SKProductsResponse.invalidProductIdentifiers,
            "SKReceiptRefreshRequest.init(receiptProperties:)":
                SKReceiptRefreshRequest.init(receiptProperties:),
            "SKPaymentTransaction.downloads": \SKPaymentTransaction.downloads,
            "SKDownload.transaction": \SKDownload.transaction,
            "SKDownload.contentIdentifier": \SKDownload.contentIdentifier,
            "SKDownload.contentVersion": \SKDownload.contentVersion,
            "SKDownload.expectedContentLength": \SKDownload.expectedContentLength,
            "SKDownload.state": \SKDownload.state,
            "SKDownload.progress": \SKDownload.progress as KeyPath<SKDownload, Float>,
            "SKDownload.timeRemaining": \SKDownload.timeRemaining,
            "SKDownload.contentURL": \SKDownload.contentURL,
            "SKDownload.error": \SKDownload.error,
            "SKStorefront.countryCode": \SKStorefront.countryCode,
            "SKStorefront.identifier": \SKStorefront.identifier,
            "SKError.code": \SKError.code,
            "SKError.errorCode": \SKError.errorCode,
            "SKError.errorUserInfo": \SKError.errorUserInfo,
            "SKError.errorDomain": SKError.errorDomain,
            "SKErrorDomain": SKErrorDomain,
            "SKTerminateForInvalidReceipt()": SKTerminateForInvalidReceipt,
        ]
    }

    @Test func theDeprecatedDownloadsAreTheQueuesOwn() {
        let queue: any Downloading = SKPaymentQueue.default()
        queue.start([])
        queue.pause([])
        queue.resume([])
        queue.cancel([])
    }

    /// Hears everything that the protocols can say.
    private final class Everything: SKPaymentTransactionObserver, SKPaymentQueueDelegate,
        SKProductsRequestDelegate
    {
        func paymentQueue(_: SKPaymentQueue, updatedTransactions: [SKPaymentTransaction]) {}
        func paymentQueue(_: SKPaymentQueue, removedTransactions: [SKPaymentTransaction]) {}
        func paymentQueueRestoreCompletedTransactionsFinished(_: SKPaymentQueue) {}
        func paymentQueue(
            _: SKPaymentQueue,
            restoreCompletedTransactionsFailedWithError: any Error
        ) {}
        func paymentQueue(_: SKPaymentQueue, updatedDownloads: [SKDownload]) {}
        func paymentQueueDidChangeStorefront(_: SKPaymentQueue) {}
        func paymentQueue(
            _: SKPaymentQueue,
            shouldAddStorePayment: SKPayment,
            for: SKProduct
        ) -> Bool { true }
        func paymentQueue(
            _: SKPaymentQueue,
            didRevokeEntitlementsForProductIdentifiers: [String]
        ) {}
        func paymentQueue(
            _: SKPaymentQueue,
            shouldContinue: SKPaymentTransaction,
            in: SKStorefront
        ) -> Bool { true }
        func paymentQueueShouldShowPriceConsent(_: SKPaymentQueue) -> Bool { true }
        func requestDidFinish(_: SKRequest) {}
        func request(_: SKRequest, didFailWithError: any Error) {}
        func productsRequest(_: SKProductsRequest, didReceive: SKProductsResponse) {}
    }

    /// The list of the reference in `SKPaymentQueue`, in its order.
    private static let reference = [
        "canMakePayments()", "default()", "storefront", "delegate",
        "add(_: SKPaymentTransactionObserver)", "remove(_:)", "transactionObservers",
        "add(_: SKPayment)", "transactions", "finishTransaction(_:)", "start(_:)", "cancel(_:)",
        "pause(_:)", "resume(_:)", "showPriceConsentIfNeeded()", "presentCodeRedemptionSheet()",
        "restoreCompletedTransactions()", "restoreCompletedTransactions(withApplicationUsername:)",
    ]

    /// A member that is missing does not compile; one that is left out of the table is named here.
    @Test func theQueueHasEveryMemberOfItsReference() {
        #expect(Self.queueMembers.keys.sorted() == Self.reference.sorted())
        _ = Everything()
    }

    /// The members that Apple documents for each type and that need no subscription, by type.
    ///
    /// What is left out on purpose stands in `PaymentQueue.docc/PaymentQueue.md`.
    private static let documented: [String: [String]] = [
        "SKPaymentTransaction": [
            "transactionState", "transactionIdentifier", "transactionDate", "error", "original",
            "payment", "downloads", "transactionReceipt",
        ],
        "SKPayment": [
            "init(product:)", "productIdentifier", "quantity", "applicationUsername",
        ],
        "SKMutablePayment": ["quantity", "simulatesAskToBuyInSandbox", "paymentDiscount"],
        "SKPaymentDiscount": [
            "identifier", "keyIdentifier", "nonce", "signature", "timestamp",
        ],
        "SKProduct": [
            "productIdentifier", "localizedTitle", "localizedDescription", "price", "priceLocale",
            "isFamilyShareable", "isDownloadable", "downloadContentLengths",
            "downloadContentVersion",
            "subscriptionGroupIdentifier", "subscriptionPeriod", "introductoryPrice",
            "discounts",
        ],
        "SKProductDiscount": [
            "identifier", "type", "price", "priceLocale", "paymentMode", "numberOfPeriods",
            "subscriptionPeriod",
        ],
        "SKProductSubscriptionPeriod": ["numberOfUnits", "unit"],
        "SKProductsRequest": ["init(productIdentifiers:)", "delegate", "start()", "cancel()"],
        "SKProductsResponse": ["products", "invalidProductIdentifiers"],
        "SKReceiptRefreshRequest": ["init(receiptProperties:)"],
        "SKDownload": [
            "transaction", "contentIdentifier", "contentVersion", "expectedContentLength", "state",
            "progress", "timeRemaining", "contentURL", "error",
        ],
        "SKStorefront": ["countryCode", "identifier"],
        "SKError": ["code", "errorCode", "errorUserInfo", "errorDomain"],
    ]

    @Test func theOtherTypesHaveEveryMemberThatIsDocumented() {
        let functions: Set = ["SKErrorDomain", "SKTerminateForInvalidReceipt()"]
        let names = Self.documented.flatMap { type, members in members.map { "\(type).\($0)" } }
        #expect(Set(Self.originalMembers.keys) == functions.union(names))
    }

    @Test func theStatesHaveStoreKitsNumbers() {
        let states: [SKPaymentTransactionState] = [
            .purchasing, .purchased, .failed, .restored, .deferred,
        ]
        #expect(states.map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect((0...5).map(SKPaymentTransactionState.init(rawValue:)) == states + [nil])
    }

    @Test func theDownloadStatesHaveStoreKitsNumbers() {
        let states: [SKDownloadState] = [
            .waiting, .active, .paused, .finished, .failed, .cancelled,
        ]
        #expect(states.map(\.rawValue) == Array(0...5))
    }

    @Test func theErrorsHaveStoreKitsNumbers() {
        #expect(SKError.Code.allCases.map(\.rawValue) == Array(0...20))
        #expect(SKError.paymentCancelled.rawValue == 2)
        #expect(SKErrorDomain == "SKErrorDomain")
    }

    @Test func aPriceIsWrittenAsTheOriginalSampleWritesIt() {
        let formatter = NumberFormatter()
        formatter.numberStyle = .currency
        formatter.locale = Locale(identifier: "fr_FR@currency=EUR")
        #expect(formatter.string(from: Decimal(string: "1.49") ?? 0)?.contains("1,49") == true)
    }
}

/// The four members that the reference marks as deprecated, called without a warning.
private protocol Downloading {
    func start(_ downloads: [SKDownload])
    func cancel(_ downloads: [SKDownload])
    func pause(_ downloads: [SKDownload])
    func resume(_ downloads: [SKDownload])
}

extension SKPaymentQueue: Downloading {}
