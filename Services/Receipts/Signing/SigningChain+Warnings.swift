import EventTypes
import Logging

extension SigningChain {
    /// Warns of what a start does not fail for: a chain that expires soon, or whose certificates do
    /// not say where their status is told.
    func warn(at now: Timestamp, _ logger: Logger) {
        if validUntil.duration(since: now) < .seconds(30 * 86_400) {
            logger.warning(
                "The signing chain expires soon",
                metadata: [
                    "chain.validUntil": "\(validUntil)",
                    "todo":
                        "issue a new leaf, replace SIGNING_KEY_FILE and SIGNING_CHAIN_FILE, restart",
                ]
            )
        }
        if !tellsItsStatus {
            logger.warning(
                "The signing chain does not say where its status is told",
                metadata: [
                    "todo": "counterfoil keys rotate --ocsp-url …; online checks fail until then"
                ]
            )
        }
    }
}
