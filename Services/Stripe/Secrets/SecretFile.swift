import Foundation
import Synchronization

/// A file with a secret, which is read again when it changes.
///
/// So a key can be replaced without a restart. A change that cannot be used leaves the secret as it
/// was: an empty file in the middle of a replacement stops no payment.
package final class SecretFile<Secret: Sendable>: Sendable {
    private struct State {
        var secret: Secret
        var stamp: FileStamp
        var problem: String?
    }

    private let path: String
    private let parse: @Sendable (String) throws -> Secret
    private let state: Mutex<State>

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - parse: Reads the secret in the text, without white space at its ends.
    /// - Throws: ``SecretFileError`` if there is no secret to begin with.
    package init(
        path: String,
        parse: @escaping @Sendable (String) throws -> Secret
    ) throws(SecretFileError) {
        self.path = path
        self.parse = parse
        let (secret, stamp) = try Self.read(path, parse)
        state = Mutex(State(secret: secret, stamp: stamp))
    }

    /// The secret as the file has it now, or as it last had it.
    package var current: Secret {
        state.withLock { state in
            guard FileStamp(path) != state.stamp || state.problem != nil else {
                return state.secret
            }
            do throws(SecretFileError) {
                (state.secret, state.stamp) = try Self.read(path, parse)
                state.problem = nil
            } catch {
                state.problem = error.description
            }
            return state.secret
        }
    }

    /// The reason why the last change of the file is not in use; `nil` if it is.
    package var problem: String? { state.withLock(\.problem) }

    private static func read(
        _ path: String,
        _ parse: (String) throws -> Secret
    ) throws(SecretFileError) -> (Secret, FileStamp) {
        // The stamp comes first: a change between the two is seen at the next look.
        guard let stamp = FileStamp(path), let bytes = FileManager.default.contents(atPath: path)
        else {
            throw SecretFileError(path: path, reason: "cannot be read")
        }
        let text = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw SecretFileError(path: path, reason: "is empty") }
        do {
            return (try parse(text), stamp)
        } catch {
            // A parser's errors say what is wrong without saying the secret.
            throw SecretFileError(path: path, reason: "is not usable: \(error)")
        }
    }
}

/// The marks by which a changed file is recognised.
///
/// They are those of the file behind all links: Kubernetes replaces a secret by pointing a link on
/// the way to it elsewhere, and leaves the link at the path as it is.
private struct FileStamp: Hashable {
    let target: String
    let modified: Date?
    let size: UInt64?
    let number: UInt64?

    /// Returns `nil` if there is no file.
    init?(_ path: String) {
        target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else {
            return nil  // Without attributes there is no file to read.
        }
        modified = attributes[.modificationDate] as? Date
        size = (attributes[.size] as? NSNumber)?.uint64Value
        number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}

/// The reason why a file with a secret is of no use; it never contains the secret.
package struct SecretFileError: Error, Hashable, CustomStringConvertible {
    let path: String
    let reason: String

    package var description: String { "\(path) \(reason)" }
}
