import Foundation
import OperatorCore
import Scenarios

/// The files that a command names.
enum ScenarioFiles {
    /// Reads all files before anything else happens.
    static func read(_ paths: [String]) throws(OperatorError) -> [ScenarioFile] {
        var texts: [(path: String, text: String)] = []
        for path in paths {
            do {
                texts.append((path, try String(contentsOfFile: path, encoding: .utf8)))
            } catch {
                throw .unreadable(path, error)
            }
        }
        do throws(ScenarioFileProblems) {
            return try ScenarioFile.read(texts)
        } catch {
            throw OperatorError(.failed, "\(error)")
        }
    }
}
