/// The certificates that an authority has issued and revoked, read from its `index.txt`.
///
/// `counterfoil keys` writes that file, with one certificate a line, in the format of OpenSSL.
///
/// Pure: text in, answers out.
struct CertificateIndex: Sendable {
    private var statuses: [[UInt8]: CertificateStatus] = [:]

    /// Reads an index.
    ///
    /// - Returns: `nil` if a line is malformed.
    init?(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 6, let serial = Self.bytes(fields[3]) else { return nil }
            switch fields[0] {
            case "V", "E":
                statuses[serial] = .good
            case "R":
                guard let status = Self.revocation(fields[2]) else { return nil }
                statuses[serial] = status
            default:
                return nil
            }
        }
    }

    /// Returns the status of the certificate with a serial number, given without leading zeros.
    func status(of serial: [UInt8]) -> CertificateStatus { statuses[serial] ?? .unknown }

    /// Parses the serial number of a line, in hexadecimal.
    private static func bytes(_ digits: Substring) -> [UInt8]? {
        guard !digits.isEmpty, digits.utf8.count <= 40, digits.utf8.count.isMultiple(of: 2) else {
            return nil
        }
        var bytes: [UInt8] = []
        var rest = digits
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return Array(bytes.drop { $0 == 0 })
    }

    /// Parses a time in one of two formats, optionally followed by a comma and a reason.
    private static func revocation(_ field: Substring) -> CertificateStatus? {
        let parts = field.split(separator: ",", maxSplits: 1)
        guard let time = parts.first, time.last == "Z",
            time.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let reason = parts.count > 1 ? reasons[String(parts[1])] : 0
        guard let reason else { return nil }
        switch time.utf8.count {
        // Until 2049 the year has two digits, as in certificates.
        case 13: return .revoked(at: "20" + time, reason: reason)
        case 15: return .revoked(at: String(time), reason: reason)
        default: return nil
        }
    }

    /// `CRLReason` of RFC 5280, section 5.3.1.
    private static let reasons: [String: UInt8] = [
        "unspecified": 0, "keyCompromise": 1, "CACompromise": 2, "affiliationChanged": 3,
        "superseded": 4, "cessationOfOperation": 5,
    ]
}
