public import EventTypes
public import Postgres

// Conversions of the event vocabulary to and from columns. The types belong to `EventTypes`, which
// does not depend on a database, so every service shares the conformances in this file.

/// `timestamptz`, which keeps microseconds; a point in time has milliseconds.
extension PointInTime where Self: PostgresEncodable & PostgresDecodable {
    /// `timestamptz`.
    public static var postgresType: PostgresType { PostgresTimestamp.postgresType }

    /// Writes the moment in PostgreSQL's binary form.
    public func encode(into buffer: inout [UInt8]) {
        let (microseconds, isTooFar) = millisecondsSinceEpoch.multipliedReportingOverflow(by: 1000)
        // A time beyond the range of the column becomes the nearest time within it.
        let furthest = millisecondsSinceEpoch < 0 ? Int64.min : .max
        PostgresTimestamp(microsecondsSinceEpoch: isTooFar ? furthest : microseconds)
            .encode(into: &buffer)
    }

    /// Reads the moment, rounded down to the millisecond.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Self {
        Self(try PostgresTimestamp.decode(bytes, as: type))
    }

    /// The moment, rounded down to the millisecond.
    init(_ time: PostgresTimestamp) {
        self.init(
            millisecondsSinceEpoch: Int64(
                (Double(time.microsecondsSinceEpoch) / 1000).rounded(.down)
            )
        )
    }
}

extension StoreTime: PostgresEncodable, PostgresDecodable {}
extension MachineTime: PostgresEncodable, PostgresDecodable {}

/// `uuid`.
extension EventID: PostgresEncodable, PostgresDecodable {
    /// `uuid`.
    public static var postgresType: PostgresType { SIMD16<UInt8>.postgresType }

    /// Writes the 16 bytes.
    public func encode(into buffer: inout [UInt8]) { bytes.encode(into: &buffer) }

    /// Reads the 16 bytes.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> EventID {
        EventID(bytes: try SIMD16<UInt8>.decode(bytes, as: type))
    }
}

extension Identifier where Self: PostgresEncodable {
    /// `text`.
    public static var postgresType: PostgresType { String.postgresType }

    /// Writes the identifier's characters.
    public func encode(into buffer: inout [UInt8]) { rawValue.encode(into: &buffer) }
}

extension Identifier where Self: PostgresDecodable {
    /// Reads an identifier that this service wrote, so its form is not checked again.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer,
        as type: PostgresType
    ) throws(PostgresError) -> Self {
        Self(unchecked: try String.decode(bytes, as: type))
    }
}

extension AccountID: PostgresEncodable, PostgresDecodable {}
extension BundleID: PostgresEncodable, PostgresDecodable {}
extension ProductID: PostgresEncodable, PostgresDecodable {}
extension OfferID: PostgresEncodable, PostgresDecodable {}
extension SubscriptionGroupID: PostgresEncodable, PostgresDecodable {}
extension ContentVersion: PostgresEncodable, PostgresDecodable {}
extension ContentDigest: PostgresEncodable, PostgresDecodable {}
extension Storefront: PostgresEncodable, PostgresDecodable {}
extension LanguageTag: PostgresEncodable, PostgresDecodable {}
extension IdempotencyKey: PostgresEncodable, PostgresDecodable {}
extension PurchaseIntentID: PostgresEncodable, PostgresDecodable {}
extension FamilyID: PostgresEncodable, PostgresDecodable {}
extension Currency: PostgresEncodable, PostgresDecodable {}
