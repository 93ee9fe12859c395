import EventTypes
import Foundation
import Logging
import ServiceKit

/// The settings of hosted contents: the storage, and the limits.
struct ContentSettings: Sendable {
    /// The directory of the contents, or of uploads on their way to the S3 store.
    let directory: String
    let lengthMax: Int64
    let cleaningInterval: Duration
    let downloads: DownloadPermits.Limits
    /// The S3 store that holds the contents, or `nil` if they are in the directory.
    let store: S3Settings?

    init(_ reader: inout SettingsReader) {
        directory = reader.string(
            "CONTENT_DIRECTORY",
            default: "/var/lib/counterfoil/content",
            "Where hosted contents are stored; all instances share it. With CONTENT_S3_ENDPOINT: where "
                + "uploads wait on their way to the store. Made when it is needed."
        )
        let lengthMax = reader.integer(
            "CONTENT_LENGTH_MAX",
            default: 2 << 30,
            in: 1...(1 << 40),
            "The largest hosted content, in bytes; an upload of more gets 413."
        )
        self.lengthMax = Int64(lengthMax)
        cleaningInterval = reader.milliseconds(
            "CONTENT_CLEANING_MS",
            default: .seconds(600),
            in: .milliseconds(50)...(.seconds(86_400)),
            "The time between two removals of the bytes of failed uploads; there is one at start."
        )
        downloads = DownloadPermits.Limits(
            downloadsMax: reader.integer(
                "DOWNLOADS_MAX",
                default: 1000,
                in: 1...100_000,
                "Downloads that this instance serves at once; further ones get 503."
            ),
            downloadsPerAccountMax: reader.integer(
                "DOWNLOADS_PER_ACCOUNT_MAX",
                default: 20,
                in: 1...1000,
                "Downloads that one account may have on this instance; further ones get 429."
            )
        )
        store = Self.store(&reader, connectionsMax: downloads.downloadsMax + 100)
        if store != nil, lengthMax > S3ContentStorage.lengthMax {
            reader.refuse(
                "CONTENT_LENGTH_MAX",
                "is above \(S3ContentStorage.lengthMax), the most that an S3 store takes in one piece"
            )
        }
    }

    /// Creates the storage that is configured: the directory or the S3 store.
    func storage(
        _ now: @escaping @Sendable () -> MachineTime,
        _ logger: Logger
    ) -> any ContentStorage {
        guard let store else { return DiskContentStorage(directory: directory) }
        return S3ContentStorage(store, spool: directory, now: now, logger: logger)
    }

    private static func store(
        _ reader: inout SettingsReader,
        connectionsMax: Int
    ) -> S3Settings? {
        let endpoint = reader.string(
            "CONTENT_S3_ENDPOINT",
            default: "",
            "The S3-compatible store that contents are in: https://host or http://host:port. None: "
                + "they are in CONTENT_DIRECTORY."
        )
        let bucket = reader.string("CONTENT_S3_BUCKET", default: "", "The store's bucket.")
        let region = reader.string(
            "CONTENT_S3_REGION",
            default: "us-east-1",
            "The region that requests are signed for."
        )
        let prefix = reader.string(
            "CONTENT_S3_PREFIX",
            default: "",
            "The beginning of the names of contents in the bucket; a slash at its end is added."
        )
        let accessKey = reader.file(
            "CONTENT_S3_ACCESS_KEY_FILE",
            default: "",
            "The id of the key to the store."
        )
        let secretKey = reader.file(
            "CONTENT_S3_SECRET_KEY_FILE",
            default: "",
            "The secret of the key to the store."
        )
        let timeout = reader.milliseconds(
            "CONTENT_S3_TIMEOUT_MS",
            default: .seconds(30),
            in: .milliseconds(50)...(.seconds(600)),
            "How long the store may say nothing, or take nothing."
        )
        guard !endpoint.isEmpty else {
            if !bucket.isEmpty {
                reader.refuse("CONTENT_S3_BUCKET", "is set, and CONTENT_S3_ENDPOINT is not")
            }
            return nil
        }
        let settings = S3Settings(
            endpoint: endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint,
            bucket: bucket,
            region: region,
            prefix: prefix.isEmpty || prefix.hasSuffix("/") ? prefix : prefix + "/",
            accessKey: key(in: accessKey, of: "CONTENT_S3_ACCESS_KEY_FILE", &reader),
            secretKey: key(in: secretKey, of: "CONTENT_S3_SECRET_KEY_FILE", &reader),
            timeout: timeout,
            connectionsMax: connectionsMax
        )
        check(settings, &reader)
        return settings
    }

    /// Checks that no name contains characters that a URL would have to encode.
    private static func check(_ settings: S3Settings, _ reader: inout SettingsReader) {
        if !settings.endpoint.contains(
            #/^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$/#
        ) {
            reader.refuse(
                "CONTENT_S3_ENDPOINT",
                "is not https://host, http://host or one of these with :port; name no bucket in it"
            )
        }
        if !settings.bucket.contains(/^[A-Za-z0-9][A-Za-z0-9._-]{2,62}$/) {
            reader.refuse(
                "CONTENT_S3_BUCKET",
                settings.bucket.isEmpty
                    ? "is required with CONTENT_S3_ENDPOINT"
                    : "is not a bucket's name: 3 to 63 letters, digits, full stops and hyphens"
            )
        }
        if !settings.region.contains(/^[A-Za-z0-9-]{1,64}$/) {
            reader.refuse("CONTENT_S3_REGION", "is not a region's name: letters, digits, hyphens")
        }
        if !settings.prefix.contains(#/^([A-Za-z0-9_-][A-Za-z0-9._-]*/){0,16}$/#) {
            reader.refuse(
                "CONTENT_S3_PREFIX",
                "is not a path: letters, digits, full stops, hyphens and underscores between slashes"
            )
        }
    }

    /// Reads the key from a file, without the trailing line break.
    ///
    /// No message shows any part of it.
    private static func key(
        in file: [UInt8],
        of key: String,
        _ reader: inout SettingsReader
    ) -> String {
        let text = String(decoding: file, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        // An unreadable file has already been reported.
        if reader.problems.allSatisfy({ $0.key != key }) {
            if text.isEmpty {
                reader.refuse(key, "has to name a file with the key; it is missing or empty")
            } else if !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
                reader.refuse(key, "names a file that holds more than one word")
            }
        }
        return text
    }
}
