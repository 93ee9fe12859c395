/// A line of the register in which an authority notes its issued and revoked certificates.
///
/// The register is OpenSSL's `index.txt`: one certificate per line, with six fields separated by
/// tabs. `counterfoil keys` writes it, and `receipts` answers from it. A registered certificate is
/// good or revoked; any other is unknown.
package struct CertificateIndexLine: Hashable, Sendable {
    /// The state of a certificate.
    package enum State: String, Sendable {
        case valid = "V"
        case revoked = "R"
        case expired = "E"
    }

    /// The reasons for a revocation, as OpenSSL names them.
    package enum Reason: String, CaseIterable, Sendable {
        case unspecified, keyCompromise, superseded, cessationOfOperation, affiliationChanged
        case authorityCompromise = "CACompromise"

        /// The reasons for which a certificate is revoked that is no authority's.
        package static let ofLeaf = allCases.filter { $0 != .authorityCompromise }

        /// `CRLReason` of RFC 5280, section 5.3.1.
        package var code: UInt8 {
            switch self {
            case .unspecified: 0
            case .keyCompromise: 1
            case .authorityCompromise: 2
            case .affiliationChanged: 3
            case .superseded: 4
            case .cessationOfOperation: 5
            }
        }
    }

    /// The state.
    package private(set) var state: State
    /// The end of the certificate, in the form of the times in certificates.
    package let expiry: String
    /// The time of the revocation and, after a comma, the reason; empty if it is not revoked.
    package private(set) var revocation: String
    /// The serial number, in hexadecimal.
    package let serial: String
    /// The holder.
    package let subject: String

    /// Makes the line of a certificate that is not revoked.
    package init(serial: String, expiry: String, subject: String) {
        state = .valid
        self.expiry = expiry
        revocation = ""
        self.serial = serial
        self.subject = subject
    }

    /// Reads a line.
    ///
    /// - Returns: `nil` if it is malformed.
    package init?(_ line: some StringProtocol) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            .map { String($0) }
        guard fields.count == 6, let state = State(rawValue: fields[0]), !fields[3].isEmpty else {
            return nil
        }
        self.state = state
        expiry = fields[1]
        revocation = fields[2]
        serial = fields[3].uppercased()
        subject = fields[5]
    }

    /// Reads the lines of a register.
    ///
    /// - Returns: `nil` if one is malformed.
    package static func lines(of register: String) -> [CertificateIndexLine]? {
        var lines: [CertificateIndexLine] = []
        for line in register.split(separator: "\n") {
            guard let line = CertificateIndexLine(line) else { return nil }
            lines.append(line)
        }
        return lines
    }

    /// The line, without its end.
    package var text: String {
        "\(state.rawValue)\t\(expiry)\t\(revocation)\t\(serial)\tunknown\t\(subject)"
    }

    /// Notes that the certificate is revoked.
    package mutating func revoke(at time: String, for reason: Reason) {
        state = .revoked
        revocation = "\(time),\(reason.rawValue)"
    }
}
