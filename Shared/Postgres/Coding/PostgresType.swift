/// A PostgreSQL type, identified by the OID that it has on every server since version 13.
public struct PostgresType: Hashable, Sendable, CustomStringConvertible {
    /// The OID in `pg_type`.
    public let oid: UInt32

    /// Makes a type from its OID.
    public init(oid: UInt32) {
        self.oid = oid
    }

    /// `boolean`.
    public static let bool = PostgresType(oid: 16)
    /// `bytea`.
    public static let bytea = PostgresType(oid: 17)
    /// `"char"`, one byte.
    public static let char = PostgresType(oid: 18)
    /// `name`.
    public static let name = PostgresType(oid: 19)
    /// `bigint`.
    public static let int8 = PostgresType(oid: 20)
    /// `smallint`.
    public static let int2 = PostgresType(oid: 21)
    /// `integer`.
    public static let int4 = PostgresType(oid: 23)
    /// `text`.
    public static let text = PostgresType(oid: 25)
    /// `oid`.
    public static let objectID = PostgresType(oid: 26)
    /// `json`.
    public static let json = PostgresType(oid: 114)
    /// `jsonb`.
    public static let jsonb = PostgresType(oid: 3802)
    /// `real`.
    public static let float4 = PostgresType(oid: 700)
    /// `double precision`.
    public static let float8 = PostgresType(oid: 701)
    /// The type of a string literal that no context determines.
    public static let unknown = PostgresType(oid: 705)
    /// `character(n)`.
    public static let bpchar = PostgresType(oid: 1042)
    /// `character varying`.
    public static let varchar = PostgresType(oid: 1043)
    /// `timestamp without time zone`.
    public static let timestamp = PostgresType(oid: 1114)
    /// `timestamp with time zone`.
    public static let timestamptz = PostgresType(oid: 1184)
    /// `numeric`.
    public static let numeric = PostgresType(oid: 1700)
    /// `void`, the result type of a function without a result.
    public static let void = PostgresType(oid: 2278)
    /// `uuid`.
    public static let uuid = PostgresType(oid: 2950)
    /// `xid8`, the id of a database transaction.
    public static let xid8 = PostgresType(oid: 5069)

    /// The type of an array of this type; ``unknown`` if this module does not know it.
    public var array: PostgresType {
        PostgresType.all[oid].map { PostgresType(oid: $0.array) } ?? .unknown
    }

    /// The type's name as PostgreSQL writes it.
    public var description: String {
        if let entry = PostgresType.all[oid] {
            return entry.name
        }
        if let element = PostgresType.all.values.first(where: { $0.array == oid }) {
            return element.name + "[]"
        }
        return "type \(oid)"
    }

    /// Whether users of the database defined the type: such types have OIDs from 16384.
    var isUserDefined: Bool { oid >= 16384 }

    private static let all: [UInt32: (name: String, array: UInt32)] = [
        16: ("boolean", 1000), 17: ("bytea", 1001), 18: ("\"char\"", 1002), 19: ("name", 1003),
        20: ("bigint", 1016), 21: ("smallint", 1005), 23: ("integer", 1007), 25: ("text", 1009),
        26: ("oid", 1028), 114: ("json", 199), 3802: ("jsonb", 3807), 700: ("real", 1021),
        701: ("double precision", 1022), 1042: ("character", 1014),
        1043: ("character varying", 1015), 1082: ("date", 1182),
        1114: ("timestamp without time zone", 1115), 1184: ("timestamp with time zone", 1185),
        1700: ("numeric", 1231), 2278: ("void", 705), 2950: ("uuid", 2951), 5069: ("xid8", 271),
    ]
}
