import EventTypes
import Logging

extension SigningChain {
    /// Logs warnings about a chain that does not prevent the start: it expires soon, or its
    /// certificates name no OCSP responder.
    func warn(at now: MachineTime, _ logger: Logger) {
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
                "The signing chain does not say where its status can be checked",
                metadata: [
                    "todo": "counterfoil keys rotate --ocsp-url …; online checks fail until then"
                ]
            )
        }
    }
}
