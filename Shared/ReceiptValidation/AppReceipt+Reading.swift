import EventTypes
import Foundation

extension AppReceipt {
    private typealias Tag = DERReader.Tag
    private typealias Attribute = AppReceiptAttribute

    /// The maximum number of purchases.
    ///
    /// No receipt has more.
    private static let purchasesMax = 10_000

    /// Reads the attributes of a receipt.
    ///
    /// A repeated attribute is refused, because two readers could each use a different one. Unknown
    /// attributes are skipped.
    ///
    /// - Throws: ``ReceiptRefusal`` if an attribute cannot be read or a required one is missing.
    init(content: ArraySlice<UInt8>) throws(ReceiptRefusal) {
        var values: [Int64: ArraySlice<UInt8>] = [:]
        var purchases: [Purchase] = []
        try Self.readAttributes(of: content, "receipt") { type, value throws(ReceiptRefusal) in
            if type == Attribute.purchase {
                guard purchases.count < Self.purchasesMax else {
                    throw ReceiptRefusal(.size, "it has more than \(Self.purchasesMax) purchases")
                }
                purchases.append(try Purchase(content: value))
            } else if values.updateValue(value, forKey: type) != nil {
                throw ReceiptRefusal(.payload, "attribute \(type) of the receipt occurs twice")
            }
        }
        let fields = AttributeValues(values: values, of: "receipt")
        guard let type = AppReceiptType(rawValue: try fields.text(Attribute.receiptType)) else {
            throw ReceiptRefusal(.environment, "it is of an environment that nobody signs for")
        }
        environment = type.environment
        isVolumePurchase = type.isVolumePurchase
        bundleID = try fields.text(Attribute.bundleID)
        bundleIDValue = Array(try fields.bytes(Attribute.bundleID))
        applicationVersion = try fields.text(Attribute.applicationVersion)
        originalApplicationVersion = try fields.text(Attribute.originalApplicationVersion)
        opaqueValue = Array(try fields.bytes(Attribute.opaqueValue))
        deviceHash = Array(try fields.bytes(Attribute.deviceHash))
        createdAt = try fields.date(Attribute.createdAt)
        expiresAt = try fields.optionalDate(Attribute.expiresAt)
        self.purchases = purchases.sorted(by: Purchase.isBefore)
    }

    /// Returns the environment that a receipt claims, before the receipt is verified.
    ///
    /// - Returns: `nil` if it cannot be read.
    package static func claimedEnvironment(
        of bytes: [UInt8]
    ) -> ReceiptTrust.Environment? {
        // No reason for a failure matters here, because the receipt is not trusted in any case.
        guard bytes.count <= ReceiptValidator.appReceiptLengthMax,
            let envelope = try? ReceiptEnvelope(bytes)
        else { return nil }
        var type: AppReceiptType?
        try? readAttributes(of: envelope.content, "receipt") { number, value in
            if number == Attribute.receiptType,
                let text = DERReader.only(Tag.utf8String, in: value)
            {
                type = AppReceiptType(rawValue: String(decoding: text, as: UTF8.self))
            }
        }
        return type?.environment
    }

    /// Reads `SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
    fileprivate static func readAttributes(
        of content: ArraySlice<UInt8>,
        _ name: StaticString,
        _ receive: (Int64, ArraySlice<UInt8>) throws(ReceiptRefusal) -> Void
    ) throws(ReceiptRefusal) {
        guard let attributes = DERReader.only(Tag.set, in: content) else {
            throw ReceiptRefusal(.payload, "the \(name) is no set of attributes")
        }
        var reader = DERReader(attributes)
        while !reader.isAtEnd {
            guard let attribute = reader.next(Tag.sequence) else {
                throw ReceiptRefusal(.payload, "the \(name) is no set of attributes")
            }
            var fields = DERReader(attribute)
            guard let type = fields.nextInteger(), fields.nextInteger() != nil,
                let value = fields.next(Tag.octetString), fields.isAtEnd
            else {
                throw ReceiptRefusal(.payload, "an attribute of the \(name) cannot be read")
            }
            try receive(type, value)
        }
    }
}

extension AppReceipt.Purchase {
    private typealias Attribute = AppReceiptAttribute

    fileprivate init(content: ArraySlice<UInt8>) throws(ReceiptRefusal) {
        var values: [Int64: ArraySlice<UInt8>] = [:]
        values.reserveCapacity(12)
        try AppReceipt.readAttributes(of: content, "purchase") {
            type,
            value throws(ReceiptRefusal) in
            if values.updateValue(value, forKey: type) != nil {
                throw ReceiptRefusal(.payload, "attribute \(type) of a purchase occurs twice")
            }
        }
        let fields = AttributeValues(values: values, of: "purchase")
        quantity = Int(try fields.integer(Attribute.quantity))
        productID = try fields.text(Attribute.productID)
        productType = .init(number: try fields.optionalInteger(Attribute.productType))
        transactionID = try fields.text(Attribute.transactionID)
        originalTransactionID = try fields.text(Attribute.originalTransactionID)
        purchasedAt = try fields.date(Attribute.purchasedAt)
        originalPurchasedAt = try fields.date(Attribute.originalPurchasedAt)
        expiresAt = try fields.optionalDate(Attribute.subscriptionExpiresAt)
        cancelledAt = try fields.optionalDate(Attribute.cancelledAt)
        webOrderLineItemID = try fields.optionalInteger(Attribute.webOrderLineItemID)
        isTrialPeriod = try fields.optionalInteger(Attribute.isTrialPeriod).map { $0 != 0 }
        isInIntroOfferPeriod = try fields.optionalInteger(Attribute.isInIntroOfferPeriod)
            .map { $0 != 0 }
    }

    /// Orders purchases by time, and by number within the same second.
    static func isBefore(_ left: Self, _ right: Self) -> Bool {
        if left.purchasedAt != right.purchasedAt { return left.purchasedAt < right.purchasedAt }
        let (leftID, rightID) = (left.transactionID, right.transactionID)
        if leftID.utf8.count != rightID.utf8.count { return leftID.utf8.count < rightID.utf8.count }
        return leftID < rightID
    }
}

/// The values of a set of attributes, read with their expected types.
private struct AttributeValues {
    let values: [Int64: ArraySlice<UInt8>]
    let name: StaticString

    init(values: [Int64: ArraySlice<UInt8>], of name: StaticString) {
        self.values = values
        self.name = name
    }

    func bytes(_ type: Int64) throws(ReceiptRefusal) -> ArraySlice<UInt8> {
        guard let value = values[type] else {
            throw ReceiptRefusal(.payload, "the \(name) has no attribute \(type)")
        }
        return value
    }

    func text(_ type: Int64) throws(ReceiptRefusal) -> String {
        guard let text = DERReader.only(DERReader.Tag.utf8String, in: try bytes(type)),
            let string = String(validating: text, as: UTF8.self)
        else { throw unreadable(type) }
        return string
    }

    func integer(_ type: Int64) throws(ReceiptRefusal) -> Int64 {
        guard let value = DERReader.onlyInteger(in: try bytes(type)) else {
            throw unreadable(type)
        }
        return value
    }

    func optionalInteger(_ type: Int64) throws(ReceiptRefusal) -> Int64? {
        values[type] == nil ? nil : try integer(type)
    }

    func date(_ type: Int64) throws(ReceiptRefusal) -> Date {
        guard let text = DERReader.only(DERReader.Tag.ia5String, in: try bytes(type)),
            let time = StoreTime(utf8: Array(text))
        else { throw unreadable(type) }
        return time.date
    }

    /// Reads an optional date.
    ///
    /// Apple writes an empty string for a missing date.
    func optionalDate(_ type: Int64) throws(ReceiptRefusal) -> Date? {
        guard let value = values[type] else { return nil }
        if DERReader.only(DERReader.Tag.ia5String, in: value)?.isEmpty == true { return nil }
        return try date(type)
    }

    private func unreadable(_ type: Int64) -> ReceiptRefusal {
        ReceiptRefusal(.payload, "attribute \(type) of the \(name) cannot be read")
    }
}
