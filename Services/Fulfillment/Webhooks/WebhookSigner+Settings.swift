import ServiceKit

extension WebhookSigner {
    /// Reads the secret of `WEBHOOK_SECRET_FILE`, and reports a malformed one as a wrong setting.
    ///
    /// - Throws: `ServiceKitError` with all problems of the settings.
    init(setting secret: String, _ reader: inout SettingsReader) throws {
        do throws(FulfillmentError) {
            try self.init(secret: secret)
        } catch {
            // A missing file has already been reported.
            if reader.problems.allSatisfy({ $0.key != "WEBHOOK_SECRET_FILE" }) {
                reader.refuse(
                    "WEBHOOK_SECRET_FILE",
                    "names a file whose content is wrong: \(error.message)"
                )
            }
            try reader.check()
            throw error
        }
    }
}
