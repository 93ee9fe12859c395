/// The search for the number of a card in a text that should have none.
///
/// Pure. A store that charges cards must never get one: it could not be taken out of its logs and
/// backups again. Nor may it refuse the ids that apps give their buyers, such as UUIDs and hashes:
/// a buyer with a refused id could never buy.
public enum CardNumber {
    /// Whether a text has the number of a card, as it is printed or without spaces.
    ///
    /// Digits that touch a letter are a part of an id. Groups make a number only as cards print
    /// them, so those of a UUID make none. A number of 19 digits is found only in groups, because
    /// many ids have as many digits.
    ///
    /// - Returns: Whether it has.
    public static func isIn(_ text: String) -> Bool {
        guard hasManyDigits(text) else { return false }
        let runs: [Substring] = text.split {
            !$0.isLetter && !$0.isNumber && !isSeparator($0)
        }
        return runs.contains { run in
            let words: [Substring] = run.split(whereSeparator: isSeparator)
            let groups: [ArraySlice<Substring>] = words.split { !$0.allSatisfy(isDigit) }
            return groups.contains(where: hasNumber)
        }
    }

    /// Whether as many digits as a card has follow each other, with nothing but separators between.
    ///
    /// Nearly no text has them, so a request costs no more than a look at its bytes.
    private static func hasManyDigits(_ text: String) -> Bool {
        var digits = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: " "), UInt8(ascii: "-"): continue
            default: digits = 0
            }
            if digits >= 14 { return true }
        }
        return false
    }

    /// The digits of each group, as cards print them.
    private static let shapes = [[4, 4, 4, 4], [4, 6, 5], [4, 6, 4], [4, 4, 4, 4, 3]]

    private static func isSeparator(_ character: Character) -> Bool {
        character == " " || character == "-"
    }

    private static func isDigit(_ character: Character) -> Bool {
        character.isASCII && character.isNumber
    }

    /// Whether one of the groups, or some that follow each other, are the number of a card.
    private static func hasNumber(_ groups: ArraySlice<Substring>) -> Bool {
        groups.indices.contains { start in
            if groups[start].count < 19, isNumber(groups[start]) { return true }
            return shapes.contains { shape in
                let printed = groups[start...].prefix(shape.count)
                let digits: [Character] = printed.flatMap { $0 }
                return printed.map(\.count) == shape && isNumber(digits)
            }
        }
    }

    /// Whether digits have the beginning and the length of a network's cards.
    ///
    /// The last digit of a card's number is a check digit, by the rule of ISO/IEC 7812.
    private static func isNumber(_ text: some Sequence<Character>) -> Bool {
        let digits = text.compactMap(\.wholeNumberValue)
        guard digits.count >= 14 else { return false }
        switch (digits.count, digits[0] * 10 + digits[1]) {
        case (14, 30), (14, 36), (14, 38), (15, 34), (15, 37): break
        case (16, 22...27), (16, 35), (16, 40...69), (19, 40...69): break
        default: return false
        }
        let sum = digits.reversed().enumerated().reduce(0) { sum, place in
            let value = place.offset.isMultiple(of: 2) ? place.element : place.element * 2
            return sum + (value > 9 ? value - 9 : value)
        }
        return sum.isMultiple(of: 10)
    }
}
