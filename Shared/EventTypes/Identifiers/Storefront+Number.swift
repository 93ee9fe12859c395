extension Storefront {
    /// The storefront's number, which never changes: `storefrontId` of a signed transaction and
    /// `SKStorefront.identifier`.
    ///
    /// The storefronts of the original App Store have Apple's numbers (`143441` is the USA), so
    /// that apps with a table of these numbers keep working. Every other code is read as a number
    /// in base 26 and added to 200000: `ABW` is 200000 + 0·676 + 1·26 + 22 = 200048. A number must
    /// not change once a receipt has been signed with it.
    public var number: String {
        if let number = Self.numbersAssignedByApple[rawValue] {
            return String(number)
        }
        let value = rawValue.utf8.reduce(0) { value, letter in
            value &* 26 &+ Int(letter) &- Int(UInt8(ascii: "A"))
        }
        return String(200_000 &+ value)
    }

    /// The numbers that Apple assigned to the storefronts of the original App Store.
    private static let numbersAssignedByApple: [String: Int] = [
        "USA": 143441, "FRA": 143442, "DEU": 143443, "GBR": 143444, "AUT": 143445, "BEL": 143446,
        "FIN": 143447, "GRC": 143448, "IRL": 143449, "ITA": 143450, "LUX": 143451, "NLD": 143452,
        "PRT": 143453, "ESP": 143454, "CAN": 143455, "SWE": 143456, "NOR": 143457, "DNK": 143458,
        "CHE": 143459, "AUS": 143460, "NZL": 143461, "JPN": 143462, "HKG": 143463, "SGP": 143464,
        "CHN": 143465, "KOR": 143466, "IND": 143467, "MEX": 143468, "RUS": 143469, "TWN": 143470,
        "VNM": 143471, "ZAF": 143472, "MYS": 143473, "PHL": 143474, "THA": 143475, "IDN": 143476,
        "PAK": 143477, "POL": 143478, "SAU": 143479, "TUR": 143480, "ARE": 143481, "HUN": 143482,
        "CHL": 143483, "PAN": 143485, "ROU": 143487, "CZE": 143489, "ISR": 143491, "UKR": 143492,
        "KWT": 143493, "HRV": 143494, "CRI": 143495, "SVK": 143496, "LBN": 143497, "QAT": 143498,
        "SVN": 143499, "COL": 143501, "VEN": 143502, "BRA": 143503, "GTM": 143504, "ARG": 143505,
        "SLV": 143506, "PER": 143507, "DOM": 143508, "ECU": 143509, "HND": 143510, "JAM": 143511,
    ]
}
