import ServiceKit

await runService("console", compose: composeConsole)
