/// Converts the JSON of events and of transactions to its stored form and back.
///
/// Two thirds of such a document are the same in nearly all of them: the names of members, and values
/// such as `purchased`. In the stored form each of these texts is one or two bytes
/// (``TextPacking``). On the wire the document stays JSON.
///
/// PostgreSQL unpacks a document with `unpacked_json`, a function of every service's database.
package enum PackedJSON {
    /// The texts; `unpacked_json` has the same list.
    static let texts: [StaticString] = [
        #"{"accountID":""#,
        #"","bundleID":""#,
        #"","deliveryPlan":["#,
        #"{"amount":"#,
        #","kind":"credit","unit":""#,
        #"],"id":""#,
        #"","originalID":""#,
        #"","originalPurchasedAt":"#,
        #","price":{"currency":""#,
        #"","price":{"currency":""#,
        #"","minorUnits":"#,
        #"},"productID":""#,
        #"","productType":"consumable","productVersion":"#,
        #"","productType":"nonConsumable","productVersion":"#,
        #","purchasedAt":"#,
        #","quantity":1,"reason":"purchase","requestedAt":"#,
        #","state":"purchased","storefront":""#,
        #","state":"purchasing","storefront":""#,
        #"","version":"#,
        #"{"environment":"Production","#,
        #"{"environment":"Sandbox","#,
        #""posting":{"id":""#,
        #"","taxBasisPoints":0},"transaction":{"accountID":""#,
        #""transaction":{"accountID":""#,
        #"{"isDelivered":true,"revision":"#,
        #"{"finishedAt":"#,
        #","isDelivered":true,"revision":"#,
        #","transaction":{"accountID":""#,
        #"{"issuedAt":"#,
        #","payloadSHA256":""#,
        #"","signing":{"appTransactionID":"#,
        #","environment":"Sandbox","historyPosition":"#,
        #","environment":"Production","historyPosition":"#,
        #","signature":""#,
        #""},"signingChainID":""#,
        #"","transaction":{"accountID":""#,
        #"","productType":"autoRenewableSubscription","productVersion":"#,
        #"","productType":"nonRenewingSubscription","productVersion":"#,
        #"","applicationUsername":""#,
        #"{"kind":"entitlement"}"#,
        #"{"kind":"app"}"#,
        #"{"kind":"webhook","url":""#,
        #"],"failureReason":""#,
        #","quantity":"#,
        #","reason":""#,
        #"","requestedAt":"#,
        #","refunds":["#,
        #","reversedAt":"#,
        #","revokedAt":"#,
        #","state":""#,
        #"","storefront":""#,
        #"","taxBasisPoints":"#,
        #"{"isDelivered":false,"revision":"#,
        #","isDelivered":false,"revision":"#,
        #"{"contents":["#,
        #","originalTransactionID":""#,
        #"","transactionID":""#,
        #"","signing":{"appAccountToken":""#,
        #"","appTransactionID":"#,
        #","quantity":1,"reason":"renewal","requestedAt":"#,
        #"","subscription":{"charge":{"attempt":"#,
        #"","subscription":{"end":"#,
        #","epoch":"#,
        #","period":"#,
        #","subscriptionID":""#,
        #""},"end":"#,
        #","start":"#,
        #","terms":{"groupID":""#,
        #""},"terms":{"groupID":""#,
        #"},"terms":{"groupID":""#,
        #"","level":"#,
        #","period":""#,
        #""}},"version":"#,
        #"{"cause":"renewed","changedAt":"#,
        #"{"cause":""#,
        #"","changedAt":"#,
        #","environment":"Sandbox","posting":{"id":""#,
        #"","taxBasisPoints":0},"subscription":{"accountID":""#,
        #"","attempts":0,"bundleID":""#,
        #"","earlierPeriod":{"anchor":"#,
        #","charge":{"attempt":"#,
        #","end":"#,
        #","number":"#,
        #"},"product":{"id":""#,
        #""}},"reason":"renewal","refunded":{"currency":""#,
        #""}},"reason":"purchase","refunded":{"currency":""#,
        #","transactionID":""#,
        #""},"epoch":"#,
        #","id":""#,
        #"","paidTime":{"days":"#,
        #","months":"#,
        #"},"period":{"anchor":"#,
        #"","period":{"anchor":"#,
        #""},"recentStart":"#,
        #","startedAt":"#,
        #","state":"active","storefront":""#,
        #"},"transactionID":""#,
    ]

    private static let packing = TextPacking(texts)

    /// The stored form of a document.
    package static func packed(_ json: [UInt8]) -> [UInt8] { packing.packed(json) }

    /// The document as it was before it was packed.
    ///
    /// - Throws: ``UnknownTextCode``.
    package static func unpacked(_ packed: [UInt8]) throws(UnknownTextCode) -> [UInt8] {
        try packing.unpacked(packed)
    }
}
