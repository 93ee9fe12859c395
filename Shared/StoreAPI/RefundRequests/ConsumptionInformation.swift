public import EventTypes

/// A merchant's report on a purchase whose refund is requested, with when it came.
public struct ConsumptionInformation: Decodable, Hashable, Sendable {
    /// The members of the report that people decide by.
    ///
    /// The first version of Apple's interface has numbers, the second has names.
    public struct Report: Decodable, Hashable, Sendable {
        /// The used part of the purchase, in thousandths of a percent.
        public var consumptionPercentage: Int?
        /// Whether the goods arrived, as a name or a number.
        public var deliveryStatus: String?
        /// The merchant's wish, as a name or a number.
        public var refundPreference: String?
        /// The used part of the purchase in the first version, as a number.
        public var consumptionStatus: Int?

        private enum CodingKeys: String, CodingKey {
            case consumptionPercentage, deliveryStatus, refundPreference, consumptionStatus
        }

        /// Reads a report of either version.
        ///
        /// - Throws: `DecodingError` if it is of neither.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) throws -> String? {
                if let number = try? members.decodeIfPresent(Int.self, forKey: key) {
                    return String(number)
                }
                return try members.decodeIfPresent(String.self, forKey: key)
            }
            consumptionPercentage = try members.decodeIfPresent(
                Int.self,
                forKey: .consumptionPercentage
            )
            consumptionStatus = try members.decodeIfPresent(Int.self, forKey: .consumptionStatus)
            deliveryStatus = try text(.deliveryStatus)
            refundPreference = try text(.refundPreference)
        }
    }

    /// The time at which it came.
    public var receivedAt: StoreTime
    /// The time of the buyer's newest request before it; `nil` if there was none.
    public var requestedAt: StoreTime?
    /// Whether it came more than twelve hours after that request.
    public var isLate: Bool
    /// The report.
    public var report: Report
}
