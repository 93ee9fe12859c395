import Foundation

extension OperatorError {
    /// A file or folder that cannot be read, with the system's reason and the remedy.
    package static func unreadable(
        _ path: String,
        _ error: any Error,
        _ code: Code = .failed
    ) -> OperatorError {
        OperatorError(
            code,
            "\(path) cannot be read: \(reason(error)). Check the path, and that you may read it."
        )
    }

    /// A file or folder that cannot be written, with the system's reason and the remedy.
    package static func unwritable(
        _ path: String,
        _ error: any Error,
        _ code: Code = .failed
    ) -> OperatorError {
        if systemError(error)?.code == .EEXIST {
            return OperatorError(code, "\(path) exists already; it was left as it is.")
        }
        return OperatorError(
            code,
            """
            \(path) cannot be written: \(reason(error)). Check that the folder exists, that you may \
            write there, and that the disk is not full.
            """
        )
    }

    /// The system's words for an error of a file, such as "No such file or directory".
    private static func reason(_ error: any Error) -> String {
        guard let system = systemError(error) else { return error.localizedDescription }
        return String(cString: strerror(system.code.rawValue))
    }

    private static func systemError(_ error: any Error) -> POSIXError? {
        error as? POSIXError ?? (error as? CocoaError)?.underlying as? POSIXError
    }
}
