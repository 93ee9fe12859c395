// The names without their prefix, as the modern shape uses them. The names with it come first:
// code that was written for them compiles with a changed import.

/// ``SKProduct`` without its prefix.
public typealias Product = SKProduct
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
/// ``SKPaymentTransaction`` without its prefix.
public typealias Transaction = SKPaymentTransaction
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
