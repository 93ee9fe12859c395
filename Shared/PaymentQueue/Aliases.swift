// The names without their prefix. The names with it come first: code that was written for them
// compiles with a changed import. ``Product`` and ``Transaction`` are types of their own.

/// ``SKProductsRequest`` without its prefix.
public typealias ProductsRequest = SKProductsRequest
/// ``SKProductsResponse`` without its prefix.
public typealias ProductsResponse = SKProductsResponse
/// ``SKReceiptRefreshRequest`` without its prefix.
public typealias ReceiptRefreshRequest = SKReceiptRefreshRequest
/// ``SKPayment`` without its prefix.
public typealias Payment = SKPayment
/// ``SKMutablePayment`` without its prefix.
public typealias MutablePayment = SKMutablePayment
/// ``SKPaymentTransactionState`` without its prefix.
public typealias TransactionState = SKPaymentTransactionState
/// ``SKPaymentTransactionObserver`` without its prefix.
public typealias TransactionObserver = SKPaymentTransactionObserver
/// ``SKPaymentQueueDelegate`` without its prefix.
public typealias PaymentQueueDelegate = SKPaymentQueueDelegate
/// ``SKStorefront`` without its prefix.
public typealias Storefront = SKStorefront
/// ``SKDownload`` without its prefix.
public typealias Download = SKDownload
/// ``SKDownloadState`` without its prefix.
public typealias DownloadState = SKDownloadState
/// ``SKError`` without its prefix.
public typealias StoreError = SKError
