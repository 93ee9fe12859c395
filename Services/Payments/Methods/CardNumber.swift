/// The search for the number of a card in a text that should have none.
///
/// Pure. A store that charges cards must never get one: it could not be taken out of its logs and
/// backups again.
enum CardNumber {
    /// Whether a text has 13 to 19 digits in a row that a card's number could be.
    ///
    /// Spaces and hyphens between groups of digits do not hide it. The last digit of a card's number
    /// is a check digit, by the rule of ISO/IEC 7812.
    static func isIn(_ text: String) -> Bool {
        text.split { !($0.isASCII && $0.isNumber) && $0 != " " && $0 != "-" }.contains { run in
            let groups = run.split { $0 == " " || $0 == "-" }
            if groups.contains(where: { isNumber($0.compactMap(\.wholeNumberValue)) }) {
                return true
            }
            // A UUID has a group of eight digits and one of twelve; no card is printed so.
            return groups.split { $0.count > groupMax }.contains { groups in
                isNumber(groups.joined().compactMap(\.wholeNumberValue))
            }
        }
    }

    /// The most digits of a group on a card.
    private static let groupMax = 6

    private static func isNumber(_ digits: [Int]) -> Bool {
        // Networks of cards number theirs from 2 to 6.
        guard (13...19).contains(digits.count), (2...6).contains(digits[0]) else { return false }
        let sum = digits.reversed().enumerated().reduce(0) { sum, place in
            let value = place.offset.isMultiple(of: 2) ? place.element : place.element * 2
            return sum + (value > 9 ? value - 9 : value)
        }
        return sum.isMultiple(of: 10)
    }
}
