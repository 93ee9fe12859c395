/// Whether a port of the loopback address accepts connections.
package func accepts(port: Int) -> Bool { LoopbackPort(number: port).accepts() }
