import Foundation
import ReceiptValidation
import X509

/// The register of an authority's issued and revoked certificates, in the form of OpenSSL's
/// `index.txt`, so that people and `openssl` can read it (``CertificateIndexLine``).
///
/// Pure: text and times in, text out.
struct CertificateIndexFile {
    /// The outcome of a revocation.
    enum Revocation: Equatable {
        case revoked
        case wasRevoked
        case unknown
    }

    private var lines: [CertificateIndexLine]

    /// Reads a register.
    ///
    /// - Returns: `nil` if a line is malformed.
    init?(_ text: String) {
        guard let lines = CertificateIndexLine.lines(of: text) else { return nil }
        self.lines = lines
    }

    /// The register in the form of a file.
    var text: String { lines.map { $0.text + "\n" }.joined() }

    /// Registers a certificate, if it is not registered yet.
    ///
    /// - Returns: Whether it was added.
    @discardableResult
    mutating func add(_ certificate: Certificate) -> Bool {
        let serial = Self.serial(of: certificate)
        guard !lines.contains(where: { $0.serial == serial }) else { return false }
        lines.append(
            CertificateIndexLine(
                serial: serial,
                expiry: Self.time(certificate.notValidAfter),
                subject: Self.subject(of: certificate)
            )
        )
        return true
    }

    /// Marks a certificate as revoked; the time of the first revocation stays.
    mutating func revoke(
        serial: String,
        at time: Date,
        for reason: CertificateIndexLine.Reason
    ) -> Revocation {
        guard let index = lines.firstIndex(where: { $0.serial == serial.uppercased() }) else {
            return .unknown
        }
        guard lines[index].state != .revoked else { return .wasRevoked }
        lines[index].revoke(at: Self.time(time), for: reason)
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
