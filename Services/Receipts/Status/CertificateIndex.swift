import ReceiptValidation

/// The certificates that an authority has issued and revoked, read from its `index.txt`
/// (``CertificateIndexLine``).
///
/// Pure: text in, answers out.
struct CertificateIndex: Sendable {
    private var statuses: [[UInt8]: CertificateStatus] = [:]

    /// Reads an index.
    ///
    /// - Returns: `nil` if a line is malformed.
    init?(_ text: String) {
        guard let lines = CertificateIndexLine.lines(of: text) else { return nil }
        for line in lines {
            guard let serial = Self.bytes(line.serial) else { return nil }
            switch line.state {
            case .valid, .expired:
                statuses[serial] = .good
            case .revoked:
                guard let status = Self.revocation(line.revocation) else { return nil }
                statuses[serial] = status
            }
        }
    }

    /// Returns the status of the certificate with a serial number, given without leading zeros.
    func status(of serial: [UInt8]) -> CertificateStatus { statuses[serial] ?? .unknown }

    /// Parses the serial number of a line, in hexadecimal.
    private static func bytes(_ digits: String) -> [UInt8]? {
        guard !digits.isEmpty, digits.utf8.count <= 40, digits.utf8.count.isMultiple(of: 2) else {
            return nil
        }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return Array(bytes.drop { $0 == 0 })
    }

    /// Parses a time in one of two formats, optionally followed by a comma and a reason.
    private static func revocation(_ field: String) -> CertificateStatus? {
        let parts = field.split(separator: ",", maxSplits: 1)
        guard let time = parts.first, time.last == "Z",
            time.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let name = parts.count > 1 ? String(parts[1]) : "unspecified"
        guard let reason = CertificateIndexLine.Reason(rawValue: name)?.code else { return nil }
        switch time.utf8.count {
        // Until 2049 the year has two digits, as in certificates.
        case 13: return .revoked(at: "20" + time, reason: reason)
        case 15: return .revoked(at: String(time), reason: reason)
        default: return nil
        }
    }
}
