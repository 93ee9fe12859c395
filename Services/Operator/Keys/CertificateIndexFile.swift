import Foundation
import X509

/// The register of an authority's issued and revoked certificates, in the form of OpenSSL's
/// `index.txt`, so that people and `openssl` can read it: one certificate per line, with six fields
/// separated by tabs.
///
/// Pure: text and times in, text out. `receipts` answers from the same files: a registered
/// certificate is good or revoked, any other is unknown.
struct CertificateIndexFile {
    /// The reasons for a revocation (RFC 5280, 5.3.1), in OpenSSL's terms.
    enum Reason: String, CaseIterable {
        case unspecified, keyCompromise, superseded, cessationOfOperation, affiliationChanged
    }

    /// The outcome of a revocation.
    enum Revocation: Equatable {
        case revoked
        case wasRevoked
        case unknown
    }

    private struct Entry {
        /// `V` or `R`.
        var state: String
        let expiry: String
        /// The time of the revocation and, after a comma, the reason.
        var revocation: String
        let serial: String
        let subject: String

        var line: String { "\(state)\t\(expiry)\t\(revocation)\t\(serial)\tunknown\t\(subject)" }
    }

    private var entries: [Entry] = []

    /// Reads a register.
    ///
    /// - Returns: `nil` if a line is malformed.
    init?(_ text: String) {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
                .map { String($0) }
            guard fields.count == 6, ["V", "R", "E"].contains(fields[0]), !fields[3].isEmpty else {
                return nil
            }
            entries.append(
                Entry(
                    state: fields[0],
                    expiry: fields[1],
                    revocation: fields[2],
                    serial: fields[3].uppercased(),
                    subject: fields[5]
                )
            )
        }
    }

    /// The register in the form of a file.
    var text: String { entries.map { $0.line + "\n" }.joined() }

    /// Registers a certificate, if it is not registered yet.
    ///
    /// - Returns: Whether it was added.
    @discardableResult
    mutating func add(_ certificate: Certificate) -> Bool {
        let serial = Self.serial(of: certificate)
        guard !entries.contains(where: { $0.serial == serial }) else { return false }
        entries.append(
            Entry(
                state: "V",
                expiry: Self.time(certificate.notValidAfter),
                revocation: "",
                serial: serial,
                subject: Self.subject(of: certificate)
            )
        )
        return true
    }

    /// Marks a certificate as revoked; the time of the first revocation stays.
    mutating func revoke(serial: String, at time: Date, for reason: Reason) -> Revocation {
        guard let index = entries.firstIndex(where: { $0.serial == serial.uppercased() }) else {
            return .unknown
        }
        guard entries[index].state != "R" else { return .wasRevoked }
        entries[index].state = "R"
        entries[index].revocation = "\(Self.time(time)),\(reason.rawValue)"
        return .revoked
    }

    /// The serial number of a certificate, in hexadecimal, as OpenSSL writes it.
    static func serial(of certificate: Certificate) -> String {
        let bytes = certificate.serialNumber.bytes.drop { $0 == 0 }
        return bytes.map { byte in
            String(byte >> 4, radix: 16, uppercase: true)
                + String(byte & 0xF, radix: 16, uppercase: true)
        }.joined()
    }

    /// `YYMMDDHHMMSSZ` until 2049 and with four digits of the year from then on, as in certificates.
    private static func time(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second],
            from: date
        )
        let year = parts.year ?? 0
        let numbers = [parts.month, parts.day, parts.hour, parts.minute, parts.second]
        let rest = numbers.map { twoDigits($0 ?? 0) }.joined() + "Z"
        return (year < 2050 ? twoDigits(year % 100) : String(year)) + rest
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }

    private static func subject(of certificate: Certificate) -> String {
        // The names are our own and hold neither slash nor tab.
        certificate.subject.map { "/\($0)" }.joined()
    }
}
