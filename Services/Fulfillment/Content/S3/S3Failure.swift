/// Translates the failures of an S3-compatible store.
///
/// Pure. The codes are those of "Error responses" in the Amazon S3 API reference, and MinIO's.
enum S3Failure {
    /// Returns the error for an unexpected response.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - document: The XML of the response. A response to `HEAD` has none.
    ///   - request: The method and the path, for the message.
    ///   - settings: The settings that may be wrong.
    /// - Returns: The error. It contains no secret, and of the document only its code.
    static func error(
        status: Int,
        document: String,
        of request: String,
        in settings: S3Settings
    ) -> ContentStorageError {
        let code = code(in: document)
        let answer = "\(settings.endpoint) answers \(request) with \(status) \(code)"
        func error(_ kind: ContentStorageError.Code, _ hint: String = "") -> ContentStorageError {
            ContentStorageError(kind, hint.isEmpty ? answer : "\(answer): \(hint)")
        }
        switch code {
        case "NoSuchBucket":
            return error(.unusable, "make the bucket, or name another in CONTENT_S3_BUCKET")
        case "InvalidAccessKeyId":
            return error(.unusable, "it does not know the key of CONTENT_S3_ACCESS_KEY_FILE")
        case "SignatureDoesNotMatch":
            return error(.unusable, "the key of CONTENT_S3_SECRET_KEY_FILE is not the access key's")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect":
            return error(.unusable, "look whether CONTENT_S3_REGION is the bucket's")
        case "RequestTimeTooSkewed":
            return error(.unusable, "set the clock of this machine, or the store's")
        case "AccessDenied", "AllAccessDisabled":
            return error(.unusable, "let the access key read, write and delete in the bucket")
        case "XMinioStorageFull", "QuotaExceeded":
            return error(.full)
        case "RequestTimeout", "SlowDown", "ServiceUnavailable":
            return error(.away)
        default: break
        }
        switch status {
        case 404: return error(.missing)
        case 507: return error(.full)
        case 408, 425, 429, 500...: return error(.away)
        default: return error(.unusable)
        }
    }

    /// Returns the code of an error document, or an empty string if there is none.
    private static func code(in document: String) -> String {
        guard let match = document.firstMatch(of: /<Code>([A-Za-z0-9]{1,64})<\/Code>/) else {
            return ""
        }
        return String(match.1)
    }
}
