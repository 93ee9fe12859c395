import EventTypes

// Every purchase begins with this request, so it is read without Foundation's decoder.

extension PaymentRequest {
    /// Reads a request.
    ///
    /// It is `nil` if a member is missing or wrong, if the text is not plain, and if the request names
    /// the offer that was shown. Foundation's decoder then reads it, or says what is wrong.
    package init?(json data: [UInt8]) {
        guard let request = PlainJSON.read(data, { Self(from: &$0) }) else { return nil }
        self = request
    }

    private init?(from json: inout PlainJSON) {
        var productID: ProductID?
        var quantity: Int64?
        var storefront: Storefront?
        var price: Money?
        var (paymentMethod, applicationUsername) = (String?.none, String?.none)
        var purchaseIntentID: PurchaseIntentID?
        var discount: PaymentDiscount?
        var (promotionalOffer, eligibility) = (String?.none, String?.none)
        let isRead = json.object { json, name in
            switch name {
            case "productID": PlainJSON.keep(json.identifier(), in: &productID)
            case "quantity": PlainJSON.keep(json.integer(), in: &quantity)
            case "storefront": PlainJSON.keep(json.identifier(), in: &storefront)
            case "price": PlainJSON.keep(Money(from: &json), in: &price)
            case "paymentMethod": PlainJSON.keep(json.stringWithSlashes(), in: &paymentMethod)
            case "applicationUsername":
                json.null()
                    || PlainJSON.keep(json.stringWithSlashes(), in: &applicationUsername)
            case "purchaseIntentID":
                json.null() || PlainJSON.keep(json.identifier(), in: &purchaseIntentID)
            case "offer": json.null()
            case "discount":
                json.null() || PlainJSON.keep(PaymentDiscount(from: &json), in: &discount)
            case "promotionalOffer":
                json.null() || PlainJSON.keep(json.string(), in: &promotionalOffer)
            case "introductoryOfferEligibility":
                json.null() || PlainJSON.keep(json.string(), in: &eligibility)
            default: json.skip()
            }
        }
        guard isRead, let productID, let quantity, let storefront, let price, let paymentMethod
        else { return nil }
        self.init(
            productID: productID,
            quantity: Int(quantity),
            storefront: storefront,
            price: price,
            paymentMethod: PaymentMethod(rawValue: paymentMethod),
            applicationUsername: applicationUsername,
            purchaseIntentID: purchaseIntentID,
            discount: discount,
            promotionalOffer: promotionalOffer,
            introductoryOfferEligibility: eligibility
        )
    }
}

extension PaymentDiscount {
    fileprivate init?(from json: inout PlainJSON) {
        var (identifier, keyIdentifier) = (String?.none, String?.none)
        var (nonce, signature) = (String?.none, String?.none)
        var timestamp: Int64?
        let isRead = json.object { json, name in
            switch name {
            case "identifier": json.null() || PlainJSON.keep(json.string(), in: &identifier)
            case "keyIdentifier":
                json.null() || PlainJSON.keep(json.string(), in: &keyIdentifier)
            case "nonce": json.null() || PlainJSON.keep(json.string(), in: &nonce)
            case "signature":
                json.null() || PlainJSON.keep(json.stringWithSlashes(), in: &signature)
            case "timestamp": json.null() || PlainJSON.keep(json.integer(), in: &timestamp)
            default: json.skip()
            }
        }
        guard isRead else { return nil }
        self.init(
            identifier: identifier,
            keyIdentifier: keyIdentifier,
            nonce: nonce,
            signature: signature,
            timestamp: timestamp
        )
    }
}
