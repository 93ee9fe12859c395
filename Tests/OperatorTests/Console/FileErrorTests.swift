import Foundation
import Testing

@testable import Operator
@testable import OperatorCore

@Suite struct FileErrorTests {
    private let missing = "/tmp/\(UUID().uuidString)/heads"

    @Test func aFileThatIsNotThereIsNamedWithTheReasonAndTheRemedy() throws {
        let error = try #require(throws: (any Error).self) {
            try Data(contentsOf: URL(fileURLWithPath: missing))
        }
        let failure = OperatorError.unreadable(missing, error, .usage)
        #expect(failure.code == .usage)
        #expect(
            failure.description
                == "\(missing) cannot be read: No such file or directory. Check the path, and that you "
                + "may read it."
        )
    }

    @Test func aFileInAFolderThatIsNotThereIsNamedWithTheReason() throws {
        let error = try #require(throws: (any Error).self) {
            try Data().write(to: URL(fileURLWithPath: missing), options: .atomic)
        }
        let failure = OperatorError.unwritable(missing, error)
        #expect(failure.code == .failed)
        #expect(failure.description.contains("cannot be written: No such file or directory. Check"))
    }

    @Test func aFileThatExistsIsLeftAsItIs() {
        let failure = OperatorError.unwritable("keys/root", POSIXError(.EEXIST))
        #expect(failure.description == "keys/root exists already; it was left as it is.")
    }
}
