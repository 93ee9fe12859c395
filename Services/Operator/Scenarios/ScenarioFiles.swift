import Foundation
import OperatorCore
import Scenarios

/// The files that a command names.
enum ScenarioFiles {
    /// Reads all files, and those of all folders, before anything else happens.
    static func read(_ paths: [String]) throws(OperatorError) -> [ScenarioFile] {
        var texts: [(path: String, text: String)] = []
        for path in paths {
            do {
                for file in try ScenarioFile.paths([path]) {
                    texts.append((file, try String(contentsOfFile: file, encoding: .utf8)))
                }
            } catch let problems as ScenarioFileProblems {
                throw OperatorError(.failed, "\(problems)")
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
